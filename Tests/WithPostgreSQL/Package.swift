// swift-tools-version:6.2
import PackageDescription

// Turns on the store in PostgreSQL where the whole checkout is built at once (scripts/steps.bash): SwiftPM takes traits
// from packages that depend on others, not from its command line when there are several roots.

let package = Package(
    name: "with-postgresql",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "tumbler-service", path: "../../Service", traits: ["PostgreSQL"])],
    targets: [
        .target(
            name: "WithPostgreSQL",
            dependencies: [.product(name: "PinListRepository", package: "tumbler-service")])
    ],
    swiftLanguageModes: [.v6]
)
