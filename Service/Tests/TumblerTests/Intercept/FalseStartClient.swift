// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import NIOCore
import NIOPosix

/// A client of TLS 1.2 that sends its request together with its last flight, before the server's Finished (False Start,
/// RFC 7918), and looks at no certificate. No TLS library at hand does the first.
///
/// ECDHE with X25519 and AES-128-GCM with SHA-256 alone (RFC 5246, RFC 5288, RFC 8422).
struct FalseStartClient {
    private enum Kind {
        static let changeCipherSpec: UInt8 = 20
        static let handshake: UInt8 = 22
        static let applicationData: UInt8 = 23
    }

    private static let random = [UInt8](repeating: 7, count: 32)

    private let key = Curve25519.KeyAgreement.PrivateKey()
    /// All messages of the handshake, without the headers of records.
    private var messages: [UInt8] = []
    private var records: [UInt8] = []
    private var received: [UInt8] = []
    private var serverRandom: [UInt8] = []
    private var serverKey: [UInt8] = []

    /// Connects, sends a request with the last flight, and closes.
    static func send(_ request: String, to host: String, port: Int) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var client = FalseStartClient()
            try await outbound.write(ByteBuffer(bytes: client.hello(host)))
            for try await bytes in inbound where client.take(Array(bytes.readableBytesView)) {
                try await outbound.write(ByteBuffer(bytes: try client.lastFlight(Array(request.utf8))))
                break
            }
        }
    }

    // MARK: Flights

    private mutating func hello(_ host: String) -> [UInt8] {
        let name = [0] + Self.sized(Array(host.utf8))
        let extensions: [(UInt8, [UInt8])] = [
            (0, Self.sized(name)),
            // X25519, and P-256 for the server's certificate; points without compression; ECDSA and RSA with SHA-256.
            (10, Self.sized([0, 0x1D, 0, 0x17])), (11, [1, 0]), (13, Self.sized([4, 3, 8, 4, 4, 1])),
        ]
        // TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, and the one for RSA.
        var body: [UInt8] = [3, 3]
        body += Self.random + [0]
        body += Self.sized([0xC0, 0x2B, 0xC0, 0x2F]) + [1, 0]
        body += Self.sized(extensions.flatMap { [0, $0.0] + Self.sized($0.1) })
        return Self.record(Kind.handshake, self.message(1, body))
    }

    /// Takes bytes of the server.
    ///
    /// - Returns: Whether its first flight is whole.
    private mutating func take(_ bytes: [UInt8]) -> Bool {
        self.records += bytes
        while self.records.count >= 5 {
            let end = 5 + Int(self.records[3]) << 8 + Int(self.records[4])
            guard self.records.count >= end else { return false }
            if self.records[0] == Kind.handshake { self.received += self.records[5..<end] }
            self.records.removeFirst(end)
        }
        while self.received.count >= 4 {
            let end = 4 + Int(self.received[2]) << 8 + Int(self.received[3])
            guard self.received.count >= end else { return false }
            let (kind, body) = (self.received[0], Array(self.received[4..<end]))
            self.messages += self.received[..<end]
            self.received.removeFirst(end)
            switch kind {
            case 2: self.serverRandom = Array(body[2..<34])
            // A named curve, its number, and the length of the key.
            case 12: self.serverKey = Array(body[4..<36])
            case 14: return true
            default: break
            }
        }
        return false
    }

    private mutating func lastFlight(_ request: [UInt8]) throws -> [UInt8] {
        let point = Array(self.key.publicKey.rawRepresentation)
        let exchange = Self.record(Kind.handshake, self.message(16, [UInt8(point.count)] + point))
        let shared = try self.key.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: self.serverKey))
        let secret = Self.expand(
            shared.withUnsafeBytes { Array($0) }, "master secret", Self.random + self.serverRandom, 48)
        // Two keys of 16 bytes, and two times the first four bytes of a nonce.
        let keys = Self.expand(secret, "key expansion", self.serverRandom + Self.random, 40)
        let proof = Self.expand(secret, "client finished", Array(SHA256.hash(data: self.messages)), 12)
        let finished = self.message(20, proof)
        return exchange + Self.record(Kind.changeCipherSpec, [1])
            + (try Self.sealed(Kind.handshake, finished, keys, 0))
            + (try Self.sealed(Kind.applicationData, request, keys, 1))
    }

    // MARK: Parts

    private static func sized(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func record(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] { [kind, 3, 3] + Self.sized(bytes) }

    private mutating func message(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] {
        let message = [kind, 0] + Self.sized(body)
        self.messages += message
        return message
    }

    /// P_SHA256 (RFC 5246, section 5).
    private static func expand(_ secret: [UInt8], _ label: String, _ seed: [UInt8], _ count: Int) -> [UInt8] {
        let key = SymmetricKey(data: secret)
        func hash(_ bytes: [UInt8]) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }
        let seed = Array(label.utf8) + seed
        var (link, made): ([UInt8], [UInt8]) = (seed, [])
        while made.count < count {
            link = hash(link)
            made += hash(link + seed)
        }
        return Array(made.prefix(count))
    }

    /// A record that is encrypted (RFC 5288, section 3).
    private static func sealed(_ kind: UInt8, _ bytes: [UInt8], _ keys: [UInt8], _ number: UInt8) throws -> [UInt8] {
        let sequence: [UInt8] = [0, 0, 0, 0, 0, 0, 0, number]
        let box = try AES.GCM.seal(
            bytes, using: SymmetricKey(data: Array(keys[..<16])), nonce: AES.GCM.Nonce(data: keys[32..<36] + sequence),
            authenticating: sequence + [kind, 3, 3] + [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)])
        return Self.record(kind, sequence + Array(box.ciphertext) + Array(box.tag))
    }
}
