// swift-tools-version:6.2
import PackageDescription

// libFuzzer targets, one a parser, chosen by FUZZ_TARGET: `make fuzz`. Built with
//   -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library

let package = Package(
    name: "tumbler-fuzzing",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "tumbler", path: "..", traits: ["NIO"]),
        .package(name: "tumbler-service", path: "../Service"),
    ],
    targets: [
        .executableTarget(
            name: "fuzz-tumbler",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "PinListRepository", package: "tumbler-service"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
