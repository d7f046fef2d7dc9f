// swift-tools-version:6.2
import PackageDescription

// libFuzzer targets, one a parser, chosen by FUZZ_TARGET: `make fuzz`. Built with
//   -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library

let package = Package(
    name: "tumbler-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tumbler", path: "..", traits: ["NIO"]),
        .package(name: "tumbler-service", path: "../Service"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "fuzz-tumbler",
            dependencies: [
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateSightings", package: "tumbler-service"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "PinListRepository", package: "tumbler-service"),
                .product(name: "PinListSimulation", package: "tumbler-service"),
                .product(name: "PinReportAnalysis", package: "tumbler-service"),
                .product(name: "PinRotation", package: "tumbler-service"),
                .product(name: "Crypto", package: "swift-crypto"),
                "AuditParsers", "RuntimeParsers", "ServiceParsers",
            ]
        ),
        // What tumbler audit opens apps with, through a symbolic link: without swift-syntax, which its package brings.
        .target(name: "AuditParsers"),
        // What RuntimeIntegrity reads with, through symbolic links: all of it is internal, and the calls of the system
        // are left out.
        .target(
            name: "RuntimeParsers",
            swiftSettings: [
                .unsafeFlags(["-enable-testing"]),
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        // What PinListServer and PinListStore read of requests and settings, through symbolic links: without the web
        // framework, the databases and what they bring, which would all be built with the sanitizer. What reports mean is
        // PinReportAnalysis, which is fuzzed as it is.
        .target(
            name: "ServiceParsers",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [
                .unsafeFlags(["-enable-testing"]),  // what is internal there is fuzzed, too
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
