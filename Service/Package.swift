// swift-tools-version:6.2
import PackageDescription

// The programs of operators. Exact versions: a program is released here, not a library.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "tumbler-service",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tumbler", targets: ["tumbler"]),
        .executable(name: "tumbler-service", targets: ["tumbler-service"]),
        // For the fuzz targets; apps have no use for it.
        .library(name: "PinListRepository", targets: ["PinListRepository"]),
        // For the fuzz targets and the benchmarks.
        .library(name: "PinListSimulation", targets: ["PinListSimulation"]),
        .library(name: "PinRotation", targets: ["PinRotation"]),
        // For the fuzz targets.
        .library(name: "CertificateSightings", targets: ["CertificateSightings"]),
        // For the fuzz targets: what strangers send is read there.
        .library(name: "PinReportAnalysis", targets: ["PinReportAnalysis"]),
    ],
    dependencies: [
        .package(name: "tumbler", path: "..", traits: ["NIO"]),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess.git", exact: "1.0.2", traits: []),
    ],
    targets: [
        .target(name: "CPKCS11"),
        // libpq of the system, opened when a database of PostgreSQL is named.
        .target(name: "CPQ"),
        .target(name: "CPublicSuffixes"),
        .target(
            name: "PinListDifference",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinRotation",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CertificateSightings",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinListRepository",
            dependencies: [
                "CPKCS11",
                "CPublicSuffixes",
                "PinRotation",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
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
        .target(
            name: "PinListSimulation",
            dependencies: [
                "PinListRepository",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinReportAnalysis",
            dependencies: [
                "CertificateSightings",
                "PinRotation",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinListStore",
            dependencies: [
                "CPQ",
                "CertificateSightings",
                "PinListDifference",
                "PinReportAnalysis",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PinListServer",
            dependencies: [
                "CertificateSightings",
                "PinListStore",
                "PinReportAnalysis",
                "PinRotation",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCertificateReloading", package: "swift-nio-extras"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // In the code, so that the program that is installed is one file.
            resources: [.embedInCode("Dashboard/Assets"), .embedInCode("Dashboard/Templates")],
            swiftSettings: strict
        ),
        // The man in the middle of tumbler intercept.
        .target(
            name: "InterceptionBench",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        // The common part of the two programs.
        .target(
            name: "CommandLineInterface",
            dependencies: [
                "PinListRepository",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        // On the machine that signs lists: no web framework and no database, which a test looks for in the program.
        .executableTarget(
            name: "tumbler",
            dependencies: [
                "CertificateSightings",
                "CommandLineInterface",
                "InterceptionBench",
                "PinListDifference",
                "PinListRepository",
                "PinListSimulation",
                "PinRotation",
                "SimulatedInstallations",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PathValidation", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningMigration", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
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
        // The program of the service.
        .executableTarget(
            name: "tumbler-service",
            dependencies: [
                "CommandLineInterface",
                "PinListRepository",
                "PinListServer",
                "PinListStore",
                "PinReportAnalysis",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // Installations of a pinned app, many in one process: of scripts/demo and of tumbler drill.
        .target(
            name: "SimulatedInstallations",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // The simulated installations of scripts/demo; no product, and not installed.
        .executableTarget(
            name: "demo-clients",
            dependencies: [
                "SimulatedInstallations",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // The yardstick for the service's lists: SwiftNIO and one answer. No product, and not installed.
        .executableTarget(
            name: "raw-list-server",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // Examples/attested-api, through a symbolic link: compiled and tested, and no product.
        .target(
            name: "AttestedAPI",
            dependencies: [
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/AttestedAPI",
            swiftSettings: strict
        ),
        .target(
            name: "AttestedApp",
            dependencies: [
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinningURLSession", package: "tumbler"),
            ],
            path: "Tests/AttestedApp",
            swiftSettings: strict
        ),
        .testTarget(
            name: "AttestedAPITests",
            dependencies: [
                "AttestedAPI", "AttestedApp",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinningURLSession", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CertificateSightingsTests",
            dependencies: [
                "CertificateSightings",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
            ],
            exclude: ["Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinRotationTests",
            dependencies: [
                "PinRotation",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListRepositoryTests",
            dependencies: [
                "PinListDifference",
                "PinListRepository",
                "PinRotation",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "CertificateTransparency", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListSimulationTests",
            dependencies: [
                "PinListRepository",
                "PinListSimulation",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinReportAnalysisTests",
            dependencies: [
                "PinReportAnalysis",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinFailureReports", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListStoreTests",
            dependencies: [
                "PinListStore",
                .product(name: "CertificatePinning", package: "tumbler"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PinListServerTests",
            dependencies: [
                "CertificateSightings",
                "PinListServer",
                "PinListStore",
                "PinReportAnalysis",
                "PinRotation",
                .product(name: "AppAttestation", package: "tumbler"),
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "PinningURLSession", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TumblerTests",
            dependencies: [
                "CommandLineInterface",
                "InterceptionBench",
                "PinListRepository",
                "PinListServer",
                "PinListSimulation",
                "PinListStore",
                "PinReportAnalysis",
                "PinRotation",
                "tumbler",
                "tumbler-service",
                .product(name: "CertificatePinning", package: "tumbler"),
                .product(name: "PinListClient", package: "tumbler"),
                .product(name: "PinListMetadata", package: "tumbler"),
                .product(name: "PinningNIO", package: "tumbler"),
                .product(name: "PinningTesting", package: "tumbler"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
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
