// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOSSL
import Testing

@testable import InterceptionBench

@Suite("The bytes of requests in a client's records")
struct TLSRecordCountTests {
    private static func record(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [kind, 3, 3, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func record(_ kind: UInt8, _ length: Int) -> [UInt8] {
        Self.record(kind, [UInt8](repeating: 0xAA, count: length))
    }

    @Test(
        "the end of a handshake and an alert are no request, and the rest of TLS 1.3 counts without what encryption adds"
    )
    func theEndOfAHandshakeAndAnAlertAreNoRequestAndTheRestOfTLS13Counts() {
        let hello = Self.record(22, 500) + Self.record(20, 1)
        for finished in [53, 69] {
            let bytes = hello + Self.record(23, finished) + Self.record(23, 412 + 17) + Self.record(23, 19)
            var whole = TLSRecordCount()
            #expect(whole.take(bytes) == 412)
            var single = TLSRecordCount()
            #expect(bytes.reduce(0) { $0 + single.take([$1]) } == 412)
        }
        var refused = TLSRecordCount()
        #expect(refused.take(hello + Self.record(23, 53) + Self.record(23, 19)) == 0)
        var older = TLSRecordCount()
        #expect(older.take(hello + Self.record(22, 40) + Self.record(23, 412 + 24) + Self.record(21, 26)) == 412)
    }

    @Test("a second hello in one record or in two is no older version, and what only begins like one is")
    func aSecondHelloInOneRecordOrInTwoIsNoOlderVersion() {
        let hello = [1, 0, 1, 0, 3, 3] + [UInt8](repeating: 0xAA, count: 254)
        let end = Self.record(23, 53) + Self.record(23, 412 + 17)
        let beginning = Self.record(22, 500) + Self.record(20, 1)
        let seconds = [
            Self.record(22, hello), Self.record(22, Array(hello[..<100])) + Self.record(22, Array(hello[100...])),
        ]
        for second in seconds {
            let bytes = beginning + second + end
            var whole = TLSRecordCount()
            #expect(whole.take(bytes) == 412)
            var single = TLSRecordCount()
            #expect(bytes.reduce(0) { $0 + single.take([$1]) } == 412)
        }
        // A nonce and what is encrypted may begin with the same byte, and a record be shorter than all of a hello's head.
        let encrypted: [[UInt8]] = [
            [1, 0, 0, 4, 3, 3] + [UInt8](repeating: 0xAA, count: 34),
            [1, 0, 1, 0, 0xAA, 3] + [UInt8](repeating: 0, count: 34),
            [1, 0, 1],
        ]
        for finished in encrypted {
            var older = TLSRecordCount()
            #expect(older.take(beginning + Self.record(22, finished) + Self.record(23, 412 + 24)) == 412, "\(finished)")
        }
    }

    /// Two ends of a connection, and the count of what the client sends.
    private struct Ends {
        let client: EmbeddedChannel
        let server: EmbeddedChannel
        var records = TLSRecordCount()
        var requestBytes = 0
        var fromServer: [UInt8] = []

        init(serverCurves: [NIOTLSCurve], _ version: TLSVersion) throws {
            let pki = try TestPKI([FetchScene.host])
            var serving = TLSConfiguration.makeServerConfiguration(
                certificateChain: try pki.chain.map { .certificate(try $0.nio) },
                privateKey: .privateKey(try pki.leaf.nioKey))
            serving.curves = serverCurves
            serving.maximumTLSVersion = version
            var asking = TLSConfiguration.makeClientConfiguration()
            asking.trustRoots = .certificates([try pki.root.nio])
            self.client = EmbeddedChannel(
                handler: try NIOSSLClientHandler(
                    context: try NIOSSLContext(configuration: asking), serverHostname: FetchScene.host))
            self.server = EmbeddedChannel(
                handler: NIOSSLServerHandler(context: try NIOSSLContext(configuration: serving)))
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            try self.server.connect(to: address).wait()
            try self.client.connect(to: address).wait()
        }

        /// Hands bytes over until neither end has any.
        mutating func exchange() throws {
            var isMoving = true
            while isMoving {
                isMoving = false
                while let bytes = try self.client.readOutbound(as: ByteBuffer.self) {
                    self.requestBytes += self.records.take(bytes.readableBytesView)
                    try self.server.writeInbound(bytes)
                    isMoving = true
                }
                while let bytes = try self.server.readOutbound(as: ByteBuffer.self) {
                    self.fromServer += bytes.readableBytesView
                    try self.client.writeInbound(bytes)
                    isMoving = true
                }
            }
        }
    }

    /// What the random of a ServerHello is in a HelloRetryRequest (RFC 8446, section 4.1.3).
    private static let retryRandom: [UInt8] = [
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2,
        0x11,
        0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ]

    @Test("a client that refuses after a HelloRetryRequest has sent no request, and one that asks has sent its bytes")
    func aClientThatRefusesAfterAHelloRetryRequestHasSentNoRequest() throws {
        for request in [0, 412] {
            // The client offers keys of other groups.
            var ends = try Ends(serverCurves: [.secp384r1], .tlsv13)
            try ends.exchange()
            #expect(Array(ends.fromServer[11..<43]) == Self.retryRandom)
            #expect(ends.requestBytes == 0)
            if request > 0 {
                try ends.client.writeOutbound(ByteBuffer(repeating: 0x41, count: request))
                try ends.exchange()
                #expect(try ends.server.readInbound(as: ByteBuffer.self)?.readableBytes == request)
            }
            ends.client.close(promise: nil)
            try ends.exchange()
            #expect(ends.requestBytes == request)
        }
    }

    @Test("over TLS 1.2 and without a HelloRetryRequest a client's bytes are counted the same")
    func overTLS12AndWithoutAHelloRetryRequestAClientsBytesAreCountedTheSame() throws {
        for version in [TLSVersion.tlsv12, .tlsv13] {
            var ends = try Ends(serverCurves: [.x25519], version)
            try ends.exchange()
            #expect(Array(ends.fromServer[11..<43]) != Self.retryRandom)
            #expect(ends.requestBytes == 0)
            try ends.client.writeOutbound(ByteBuffer(repeating: 0x41, count: 412))
            try ends.exchange()
            // The cipher of TLS 1.2 may be one whose records have no nonce of 8 bytes in them.
            #expect((404...412).contains(ends.requestBytes), "\(version): \(ends.requestBytes)")
        }
    }
}
