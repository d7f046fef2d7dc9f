// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import NIOPosix
import NIOSSL
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// A pinned server, and a man in the middle between it and its clients.
struct Interception {
    /// Where the man in the middle stands.
    enum Place: String, CaseIterable {
        /// Names lead to him instead of the server.
        case reverseProxy
        /// He is the proxy that the client was told to use.
        case connectProxy
        /// He has the router.
        case router
    }

    /// What the man in the middle presents.
    enum Forgery: String, CaseIterable {
        /// Certificates by a CA of his own, which the machine trusts.
        case ownAuthority
        /// The same, and the machine does not trust it.
        case unknownAuthority
        /// A certificate for his own key by the very authority that issued the server's.
        case sameAuthority

        /// Those that a client without pins accepts.
        static let trusted: [Forgery] = [.ownAuthority, .sameAuthority]
    }

    /// What he does, as one case of a test.
    struct Attack: CustomTestStringConvertible {
        let place: Place
        let forgery: Forgery
        let http2: Bool

        var testDescription: String { "\(self.place), \(self.forgery), \(self.http2 ? "HTTP/2" : "HTTP/1.1")" }

        /// All of them at some places.
        static func all(at places: [Place], _ forgeries: [Forgery] = Forgery.trusted) -> [Attack] {
            places.flatMap { place in
                forgeries.flatMap { forgery in
                    [false, true].map { Attack(place: place, forgery: forgery, http2: $0) }
                }
            }
        }
    }

    let pki: TestPKI
    let server: LoopbackServer
    /// The way on which the man in the middle stands.
    private(set) var way: Way
    /// What he presents beside the CA of his own: the leaf first.
    let forged: [TestCertificate]
    /// Runs something in the client's network.
    let command: (InstalledProgram, [String]) throws -> (InstalledProgram, [String])
    var attacker: ManInTheMiddle

    /// A client's pinning: the server's own key is pinned.
    func scene(
        reportSender: any ReportSender = NoNetwork(), reportTo: [String] = []
    ) throws -> PinnedScene {
        try PinnedScene([PinnedScene.entry(Way.host, [self.pki.leaf.pin])], roots: [], reportSender: reportSender) {
            $0.reportTo = reportTo
        }
    }

    /// Sets everything up while something is done with it.
    ///
    /// - Parameter before: Is given the same way before the man in the middle has taken his place.
    static func with(
        _ attack: Attack,
        before: (TestPKI, Way) async throws -> Void = { _, _ in }, _ body: (inout Interception) async throws -> Void
    ) async throws {
        let (place, forgery, http2) = (attack.place, attack.forgery, attack.http2)
        let pki = try TestPKI([Way.host])
        let identity = try LoopbackServer.Identity(pki.chain)
        guard place == .router else {
            return try await LoopbackServer.with(identity, http2: http2) { server in
                let way = Way(port: server.port, roots: [try pki.root.nio], http2: http2)
                try await before(pki, way)
                let standing = place == .reverseProxy ? ManInTheMiddle.Place.server(port: server.port) : .proxy
                try await self.with(standing, forgery, pki, server, way, command: { ($0, $1) }) { scene in
                    if place == .reverseProxy {
                        scene.way.port = scene.attacker.port
                    } else {
                        scene.way.proxy = scene.attacker.port
                    }
                    try await body(&scene)
                }
            }
        }
        try await InterceptedWire.with { wire in
            let address = InterceptedWire.serverAddress
            try await LoopbackServer.with(identity, http2: http2, at: address, on: wire.server.group) { server in
                let way = Way(
                    address: address, port: server.port, roots: [try pki.root.nio], group: wire.client.group,
                    http2: http2)
                try await before(pki, way)
                try await self.with(.router(wire.router), forgery, pki, server, way, command: wire.client.command) {
                    try await wire.intercept(on: $0.attacker.port)
                    try await body(&$0)
                }
            }
        }
    }

    private static func with(
        _ place: ManInTheMiddle.Place, _ forgery: Forgery, _ pki: TestPKI, _ server: LoopbackServer, _ way: Way,
        command: @escaping (InstalledProgram, [String]) throws -> (InstalledProgram, [String]),
        _ body: (inout Interception) async throws -> Void
    ) async throws {
        let leaf = try TestPKI.leaf([Way.host], by: pki.intermediate)
        let identity = forgery == .sameAuthority ? try leaf.keyPEM + leaf.pem + pki.intermediate.pem : nil
        try await ManInTheMiddle.with(at: place, presenting: identity) { attacker in
            var way = way
            if forgery == .ownAuthority { way.roots += try NIOSSLCertificate.fromPEMFile(attacker.authorityFile.path) }
            var scene = Interception(
                pki: pki, server: server, way: way, forged: identity == nil ? [] : [leaf, pki.intermediate],
                command: command, attacker: attacker)
            try await body(&scene)
        }
    }
}
#endif
