// swift-tools-version:6.2
import PackageDescription

// What app developers import. One trait, off by default, keeps everything that only Linux needs out of an app's
// resolution: see docs/architecture.md, "Two manifests".

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "tumbler",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "CertificatePinning", targets: ["CertificatePinning"]),
        .library(name: "PinListMetadata", targets: ["PinListMetadata"]),
        .library(name: "CertificateTransparency", targets: ["CertificateTransparency"]),
        .library(name: "PinFailureReports", targets: ["PinFailureReports"]),
        .library(name: "PinListClient", targets: ["PinListClient"]),
        .library(name: "PinningURLSession", targets: ["PinningURLSession"]),
        .library(name: "RuntimeIntegrity", targets: ["RuntimeIntegrity"]),
        .library(name: "PinningIntegrity", targets: ["PinningIntegrity"]),
        .library(name: "PinningTesting", targets: ["PinningTesting"]),
        .library(name: "PinningMigration", targets: ["PinningMigration"]),
        .library(name: "PathValidation", targets: ["PathValidation"]),
        .library(name: "AppAttestation", targets: ["AppAttestation"]),
        .library(name: "PinningNIO", targets: ["PinningNIO"]),
        .library(name: "PinningGRPC", targets: ["PinningGRPC"]),
    ],
    traits: [
        .trait(
            name: "NIO", description: "Pinning on Linux: path validation over swift-certificates, SwiftNIO clients."),
        .trait(name: "GRPC", description: "Pinning for grpc-swift-2 over SwiftNIO.", enabledTraits: ["NIO"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.9.2"),
    ],
    targets: [
        .target(
            name: "CertificatePinning",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),
        .target(
            name: "PinListMetadata",
            dependencies: ["CertificatePinning", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),
        .target(
            name: "CertificateTransparency",
            dependencies: [
                "CertificatePinning", "PinListMetadata",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinFailureReports",
            dependencies: ["CertificatePinning", "PinListMetadata"],
            swiftSettings: strict
        ),
        .target(
            name: "PinListClient",
            dependencies: [
                "CertificatePinning", "CertificateTransparency", "PinListMetadata", "PinFailureReports",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: strict
        ),
        .target(
            name: "PinningURLSession",
            dependencies: [
                "CertificatePinning", "PinListMetadata", "PinFailureReports", "PinListClient",
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: strict
        ),
        .target(
            name: "PinningTesting",
            dependencies: [
                "CertificatePinning", "PinListMetadata", "PinListClient",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        // System calls in C, inlined into each caller; nothing but headers.
        .target(name: "CRuntimeProbe"),
        .target(name: "RuntimeIntegrity", dependencies: ["CRuntimeProbe"], swiftSettings: strict),
        .target(name: "PinningMigration", dependencies: ["CertificatePinning"], swiftSettings: strict),
        .target(
            name: "PathValidation",
            dependencies: [
                "CertificatePinning",
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["NIO"])),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AppAttestation",
            dependencies: [
                "CertificatePinning", "PathValidation",
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinningNIO",
            dependencies: [
                "CertificatePinning", "PinListMetadata", "PinFailureReports", "PinListClient", "PathValidation",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIO"])),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["NIO"])),
                .product(name: "NIOExtras", package: "swift-nio-extras", condition: .when(traits: ["NIO"])),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinningGRPC",
            dependencies: [
                "PinListClient", "PinningNIO",
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["GRPC"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["GRPC"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["GRPC"])),
                .product(name: "GRPCCore", package: "grpc-swift-2", condition: .when(traits: ["GRPC"])),
                .product(
                    name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport",
                    condition: .when(traits: ["GRPC"])),
            ],
            swiftSettings: strict
        ),
        // The one room that knows both what decides and what watches: an app that does not import it carries neither
        // the looks nor the trials.
        .target(
            name: "PinningIntegrity",
            dependencies: [
                "CertificatePinning", "CertificateTransparency", "PinListMetadata", "PinListClient", "RuntimeIntegrity",
                .target(name: "PinningNIO", condition: .when(traits: ["NIO"])),
                .target(
                    name: "PinningURLSession",
                    condition: .when(platforms: [.iOS, .macOS, .tvOS, .watchOS, .visionOS])),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "TestData", dependencies: [.product(name: "Crypto", package: "swift-crypto")], path: "Tests/TestData",
            swiftSettings: strict),
        .testTarget(
            name: "CertificatePinningTests",
            dependencies: ["CertificatePinning", "TestData", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListMetadataTests",
            dependencies: [
                "CertificatePinning", "PinListMetadata", "PinningTesting", "TestData",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CertificateTransparencyTests",
            dependencies: [
                "CertificatePinning", "CertificateTransparency", "TestData",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinFailureReportsTests",
            dependencies: ["CertificatePinning", "PinListMetadata", "PinFailureReports", "PinningTesting", "TestData"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListClientTests",
            dependencies: [
                "CertificatePinning", "PinListMetadata", "PinFailureReports",
                "PinListClient", "PinningTesting",
                "TestData", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RuntimeIntegrityTests",
            dependencies: ["RuntimeIntegrity", .product(name: "Crypto", package: "swift-crypto")],
            exclude: ["Recorded"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinningIntegrityTests",
            dependencies: [
                "CertificatePinning", "PinListClient", "PinningIntegrity", "PinningTesting",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinningURLSessionTests",
            dependencies: [
                "CertificatePinning", "PinListClient", "PinListMetadata", "PinningTesting", "PinningURLSession",
            ],
            exclude: ["Support/http-server.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinningMigrationTests",
            dependencies: [
                "CertificatePinning", "PathValidation", "PinFailureReports", "PinListMetadata", "PinningMigration",
                "PinningTesting", "TestData",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["NIO"])),
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PathValidationTests",
            dependencies: [
                "CertificatePinning", "PathValidation", "TestData",
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppAttestationTests",
            dependencies: [
                "AppAttestation", "CertificatePinning", "TestData",
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinningNIOTests",
            dependencies: [
                "CertificatePinning", "PathValidation", "PinFailureReports", "PinListClient", "PinListMetadata",
                "PinningIntegrity", "PinningNIO", "PinningTesting", "TestData",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIO"])),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["NIO"])),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["NIO"])),
            ],
            exclude: ["Support/count-requests.py", "Support/http-server.py", "Support/sequential-server.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinningGRPCTests",
            dependencies: [
                "CertificatePinning", "PinListClient", "PinListMetadata", "PinningGRPC", "PinningNIO",
                "PinningTesting", "TestData", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["NIO"])),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["NIO"])),
                .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["NIO"])),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["NIO"])),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: .when(traits: ["GRPC"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["GRPC"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIO"])),
                .product(name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["NIO"])),
                .product(name: "GRPCCore", package: "grpc-swift-2", condition: .when(traits: ["GRPC"])),
                .product(
                    name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport",
                    condition: .when(traits: ["GRPC"])),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
