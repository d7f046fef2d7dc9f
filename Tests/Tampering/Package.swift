// swift-tools-version:6.2
import PackageDescription

// Programs that are attacked: docs/tampering.md. `TamperingVictim` uses the real pinned client against a real TLS server;
// `SmallVictim` needs none of SwiftNIO, so that builds with sanitizers and of a static standard library take seconds.

let package = Package(
    name: "tumbler-tampering",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "tumbler", path: "../..", traits: ["NIO"]),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "TamperingVictim",
            dependencies: [
                "VictimBench",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "PinningIntegrity", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            path: "Victim"
        ),
        .executableTarget(
            name: "SmallVictim",
            dependencies: ["Deciders", "VictimBench", .product(name: "RuntimeIntegrity", package: "tumbler")],
            path: "SmallVictim"
        ),
        .target(
            name: "VictimBench",
            dependencies: ["Deciders", .product(name: "RuntimeIntegrity", package: "tumbler")],
            path: "VictimBench"
        ),
        .target(name: "Deciders", path: "Deciders"),
    ],
    swiftLanguageModes: [.v6]
)
