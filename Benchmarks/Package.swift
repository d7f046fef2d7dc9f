// swift-tools-version:6.2
import PackageDescription

// Measures ratios against a named limit or peer in one run: `make bench`.

let package = Package(
    name: "tumbler-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "tumbler", path: "..", traits: ["NIO"]),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "tumbler-bench",
            dependencies: [
                "AllocationCount", "BareCalls", "CLibcrypto",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "RuntimeIntegrity", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .executableTarget(
            name: "tumbler-bench-client",
            dependencies: [
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            // The server, its certificates and the kit of the attestations are those of the tests, which stand behind the trait.
            swiftSettings: [.define("NIO")]
        ),
        .target(name: "AllocationCount"),
        .target(name: "BareCalls"),
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    ],
    swiftLanguageModes: [.v6]
)
