// swift-tools-version:6.2
import PackageDescription

// What stands for Apple's frameworks on Linux, so that the adapter in Sources/PinningURLSession compiles unmodified and
// runs: see docs/apple-shim.md. Nothing of it is part of a product. The modules do not have Apple's names, because all
// modules of a build share one folder, and `canImport` would be true for all of them; aliases give those names to the
// adapter and its tests alone.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Each of Apple's modules, and what stands for it.
let aliases = [
    "Security=SecurityShim", "Network=NetworkShim", "WebKit=WebKitShim", "os=OSShim",
    "DeviceCheck=DeviceCheckShim", "FoundationNetworking=URLSessionShim",
]

/// What only tests and examples import.
let testAliases =
    aliases + [
        "Alamofire=AlamofireShim", "BackgroundTasks=BackgroundTasksShim", "SwiftUI=SwiftUIShim",
        "PinningURLSession=PinningURLSessionApple", "PinningIntegrity=PinningIntegrityApple",
    ]

func alias(_ names: [String]) -> [SwiftSetting] {
    strict + [.unsafeFlags(names.flatMap { ["-module-alias", $0] })]
}

/// What the examples of the documentation are compiled against.
let forExamples = [
    "AlamofireShim", "BackgroundTasksShim", "DeviceCheckShim", "NetworkShim", "OSShim", "PinningIntegrityApple",
    "PinningURLSessionApple",
    "SecurityShim", "SwiftUIShim", "URLSessionShim", "WebKitShim",
]

let package = Package(
    name: "tumbler-apple-shims",
    platforms: [.macOS(.v13)],
    products: forExamples.map { .library(name: $0, targets: [$0]) },
    dependencies: [
        // The trait that brings all: SwiftPM throws away checkouts that the package it resolves does not need, and the
        // libraries' tests, which share the folder, need them again.
        .package(name: "tumbler", path: "../..", traits: ["GRPC"]),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    ],
    targets: [
        .target(
            name: "SecurityShim",
            dependencies: [
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        .target(name: "URLSessionShim", dependencies: ["SecurityShim"], swiftSettings: strict),
        .target(name: "NetworkShim", dependencies: ["SecurityShim"], swiftSettings: strict),
        .target(name: "WebKitShim", dependencies: ["SecurityShim", "URLSessionShim"], swiftSettings: strict),
        .target(name: "OSShim", swiftSettings: strict),
        .target(name: "BackgroundTasksShim", swiftSettings: strict),
        .target(name: "DeviceCheckShim", swiftSettings: strict),
        .target(name: "SwiftUIShim", swiftSettings: strict),
        .target(name: "AlamofireShim", dependencies: ["SecurityShim"], swiftSettings: strict),
        .target(
            name: "PinningURLSessionApple",
            dependencies: [
                "SecurityShim", "NetworkShim", "WebKitShim", "OSShim", "URLSessionShim", "DeviceCheckShim",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["PrivacyInfo.xcprivacy"],
            swiftSettings: alias(aliases)
        ),
        .target(
            name: "PinningIntegrityApple",
            dependencies: [
                "SecurityShim", "PinningURLSessionApple",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "RuntimeIntegrity", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: alias(aliases + ["PinningURLSession=PinningURLSessionApple"])
        ),
        // The sample app: compiled, never run.
        .executableTarget(
            name: "BankApp",
            dependencies: [
                "BackgroundTasksShim", "PinningURLSessionApple", "SwiftUIShim", "URLSessionShim", "WebKitShim",
            ],
            // What Foundation has on Apple's platforms is imported for it: its files are an app's, and do not.
            swiftSettings: [
                .unsafeFlags(
                    testAliases.flatMap { ["-module-alias", $0] }
                        + ["-Xfrontend", "-import-module", "-Xfrontend", "URLSessionShim"])
            ]
        ),
        // What pinning adds to a program and to a challenge: scripts/bench-apple.
        // That of the benchmarks, by another name: both packages are built as one.
        .target(name: "ChallengeAllocations", path: "Sources/AllocationCount"),
        .executableTarget(
            name: "app-without-pinning", dependencies: ["SecurityShim", "URLSessionShim"],
            path: "Sources/AppWithoutPinning", swiftSettings: alias(testAliases)
        ),
        .executableTarget(
            name: "app-with-pinning", dependencies: ["PinningURLSessionApple", "SecurityShim", "URLSessionShim"],
            path: "Sources/AppWithPinning", swiftSettings: alias(testAliases)
        ),
        .executableTarget(
            name: "challenge-cost",
            dependencies: [
                "ChallengeAllocations", "PinningURLSessionApple", "SecurityShim",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            path: "Sources/ChallengeCost", swiftSettings: alias(testAliases) + [.define("NIO")]
        ),
        .testTarget(
            name: "PinningURLSessionAppleTests",
            dependencies: [
                "SecurityShim", "NetworkShim", "WebKitShim", "OSShim", "URLSessionShim", "BackgroundTasksShim",
                "DeviceCheckShim", "SwiftUIShim", "PinningURLSessionApple", "PinningIntegrityApple",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "RuntimeIntegrity", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: alias(testAliases) + [.define("NIO")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
