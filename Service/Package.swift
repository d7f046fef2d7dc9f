// swift-tools-version:6.2
import PackageDescription

// What operators run. Exact versions: what is released here is a program, not a library.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "tumbler-service",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "tumbler", targets: ["tumbler"]),
        // For the fuzz targets; apps have no use for it.
        .library(name: "PinListRepository", targets: ["PinListRepository"]),
    ],
    dependencies: [
        .package(name: "tumbler", path: "..", traits: ["NIO"]),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
    ],
    targets: [
        .target(name: "CPKCS11"),
        .target(name: "CPublicSuffixes"),
        .target(
            name: "PinListRepository",
            dependencies: [
                "CPKCS11",
                "CPublicSuffixes",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "tumbler",
            dependencies: [
                "PinListRepository",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListRepositoryTests",
            dependencies: [
                "PinListRepository",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TumblerTests",
            dependencies: [
                "tumbler",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            exclude: ["Support/http-server.py"],
            // Its server and its certificates are those of the libraries' tests, where they stand behind the trait.
            swiftSettings: strict + [.define("NIO")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
