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
    ],
    targets: [
        .executableTarget(
            name: "tumbler-bench",
            dependencies: [
                "AllocationCount", "CLibcrypto",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(name: "AllocationCount"),
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    ],
    swiftLanguageModes: [.v6]
)
