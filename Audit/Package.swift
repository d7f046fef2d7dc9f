// swift-tools-version:6.2
import PackageDescription

// The audit of apps. swift-syntax is heavy, so this is a package of its own: only those who audit compile it.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "tumbler-audit",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tumbler-audit", targets: ["tumbler-audit"])
    ],
    dependencies: [
        .package(name: "tumbler", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax.git", exact: "603.0.1"),
    ],
    targets: [
        // Readers of what a build leaves behind: zip, Mach-O, property lists. Bytes in, values out, all bounded.
        .target(name: "AppArtifacts", swiftSettings: strict),
        .target(
            name: "AppAudit",
            dependencies: [
                "AppArtifacts",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "tumbler-audit",
            dependencies: [
                "AppAudit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppAuditTests",
            dependencies: [
                "AppArtifacts",
                "AppAudit",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
