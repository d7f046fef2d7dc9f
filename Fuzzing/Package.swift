// swift-tools-version:6.2
import PackageDescription

// libFuzzer targets, one a parser, chosen by FUZZ_TARGET: `make fuzz`. Built with
//   -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library

let package = Package(
    name: "tumbler-fuzzing",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "tumbler", path: "..")],
    targets: [
        .executableTarget(
            name: "fuzz-tumbler",
            dependencies: [.product(name: "CertificatePinning", package: "tumbler")]
        )
    ],
    swiftLanguageModes: [.v6]
)
