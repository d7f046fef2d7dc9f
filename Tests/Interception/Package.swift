// swift-tools-version:6.2
import PackageDescription

// Clients of scripts/intercept-drivers that are compiled with the libraries. A package of its own: no other one has a
// program with gRPC in it.

let package = Package(
    name: "tumbler-interception",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tumbler", path: "../..", traits: ["GRPC"]),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.9.2"),
    ],
    targets: [
        .executableTarget(
            name: "intercepted-client",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinningGRPC", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Client"
        )
    ],
    swiftLanguageModes: [.v6]
)
