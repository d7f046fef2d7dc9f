// swift-tools-version:6.2
import PackageDescription

// Asks an Apple system what docs/what-a-mac-has-to-show.md wants to know. Builds on Apple's systems alone; `run` beside this
// file makes what it needs. It has never run.

let package = Package(
    name: "on-a-mac",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [.package(name: "tumbler", path: "../..")],
    targets: [
        .executableTarget(
            name: "what-a-mac-shows",
            dependencies: [
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningURLSession", package: "tumbler"),
                .product(name: "PinningIntegrity", package: "tumbler"),
            ],
            path: "Sources/WhatAMacShows"
        )
    ],
    swiftLanguageModes: [.v6]
)
