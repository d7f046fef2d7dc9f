// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Crypto
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import PinningTesting
import SwiftASN1
import Testing
import X509

@testable import PinListServer
@testable import PinListStore

@Suite("The service's own certificate")
struct CertificateReloadTests {
    private static func make(in folder: URL) throws -> NIOSSLCertificate {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSinceNow: -3_600), notValidAfter: Date(timeIntervalSinceNow: 86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost"), .ipAddress(.init(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: key)
        let pem = try certificate.serializeAsPEM().pemString
        // The certificate last: a pair that does not fit together is not taken.
        try key.serializeAsPEM().pemString.write(
            to: folder.appendingPathComponent("key.pem"), atomically: true, encoding: .utf8)
        try pem.write(to: folder.appendingPathComponent("certificate.pem"), atomically: true, encoding: .utf8)
        return try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem)
    }

    private static func status(_ address: String, trusting certificate: NIOSSLCertificate) async -> Int? {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .certificates([certificate])
        // A certificate that is not trusted is an answer: without this it is asked for again until the time is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount.ample
        return try? await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let answer = try await client.execute(HTTPClientRequest(url: address + "/healthz"), timeout: .ample)
            return Int(answer.status.code)
        }
    }

    @Test("replaced on the disk, it is presented to those who come from then on, without a restart")
    func replacedOnTheDiskItIsPresentedToThoseWhoComeFromThenOnWithoutARestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try Self.make(in: folder)
        let path = folder.path
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(), trust: [first],
                { $0.tls = .init(certificate: "\(path)/certificate.pem", key: "\(path)/key.pem") }
            ) { service in
                #expect(service.address.hasPrefix("https://127.0.0.1:"))
                #expect(try await service.ask(.GET, "/healthz").status == 200)
                // Half of a new pair, and what is none, change nothing.
                let second = try Self.make(in: URL(fileURLWithPath: path))
                var status: Int?
                // Each is over in milliseconds; the service looks at the files every 20.
                let end = NIODeadline.now() + .ample
                while status == nil, NIODeadline.now() < end {
                    status = await Self.status(service.address, trusting: second)
                }
                #expect(status == 200)
                #expect(await Self.status(service.address, trusting: first) == nil)
            }
        }
    }

    @Test("a large list, which TLS gets in parts, comes whole, one time after another on one connection")
    func largeListWhichTLSGetsInPartsComesWholeOneTimeAfterAnotherOnOneConnection() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = try Self.make(in: folder)
        let path = folder.path
        let repository = try RepositorySimulator.ofLargeList()
        let list = repository.lists[0]
        #expect(list.count > 3 * PartedWrites.partBytes)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], list], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(
                store, trust: [certificate],
                {
                    $0.roots = repository.anchors
                    $0.tls = .init(certificate: "\(path)/certificate.pem", key: "\(path)/key.pem")
                }
            ) { service in
                for _ in 0..<3 {
                    let answer = try await service.ask(.GET, "/v1/lists/com.example.app/pins.json")
                    #expect(answer.body == list)
                }
            }
        }
    }

    @Test("a certificate that cannot be read is found before the service starts")
    func certificateThatCannotBeReadIsFoundBeforeTheServiceStarts() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try Self.make(in: folder)
        let key = folder.appendingPathComponent("key.pem")
        try P256.Signing.PrivateKey().pemRepresentation.write(to: key, atomically: true, encoding: .utf8)
        var configuration = ServiceConfiguration()
        configuration.tls = .init(certificate: folder.appendingPathComponent("certificate.pem").path, key: key.path)
        let found = configuration
        try await TestedStore.sqlite.withDatabase { open in
            let service = PinListService(found, store: try open(), instance: "a", logger: .init(label: "test"))
            await #expect(throws: (any Error).self) { try await service.check() }
        }
    }
}
