// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 3.3: "The first failing check in this order names the refusal".
@Suite("The order of checks")
struct RefusalOrderTests {
    /// A client that holds version 5, and a list that fails everything from some check on.
    private func client() throws -> (TrustState, RepositorySimulator) {
        var repository = try Story.repository(pinsKeys: (2, 2))
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList { $0.version = 5 }, at: Story.start)
        return (client, repository)
    }

    @Test("too large, before a byte is read; then what is no envelope; then its type; then its signatures")
    func tooLargeBeforeAByteIsReadThenWhatIsNoEnvelopeThenItsTypeThenItsSignatures() throws {
        var (client, repository) = try self.client()
        let limit = MetadataLimits().listBytes
        let tooLarge = [UInt8](repeating: UInt8(ascii: "{"), count: limit + 1)
        #expect(try code { try client.accept(list: tooLarge, at: Story.start) } == .tooLarge)
        #expect(try code { try client.accept(list: Array(tooLarge.dropLast()), at: Story.start) } == .malformed)
        let rootLimit = MetadataLimits().rootBytes
        let blank = [UInt8](repeating: 0x20, count: rootLimit + 1)
        #expect(try code { try client.accept(root: blank, at: Story.start) } == .tooLarge)
        #expect(try code { try client.accept(root: Array(blank.dropLast()), at: Story.start) } == .malformed)

        let malformed = #"{"payloadType":"x","payload":"","signatures":{}}"#
        #expect(try code { try client.accept(list: Array(malformed.utf8), at: Story.start) } == .malformed)
        let wrongType = #"{"payloadType":"x","payload":"","signatures":[]}"#
        #expect(try code { try client.accept(list: Array(wrongType.utf8), at: Story.start) } == .wrongType)
        let unsigned = Envelope(payloadType: Envelope.payloadType(of: .pins), payload: [])
        #expect(try code { try client.accept(list: unsigned.bytes, at: Story.start) } == .unsigned)
        let one = try Envelope(of: .pins, payload: [], signedBy: [repository.pinsKeys[0]])
        #expect(try code { try client.accept(list: one.bytes, at: Story.start) } == .thresholdNotMet)
        let both = try repository.signed([])
        #expect(try code { try client.accept(list: both, at: Story.start) } == .malformed)
    }

    @Test("then name, version, payload, future, expiry")
    func thenNameVersionPayloadFutureExpiry() throws {
        let future = Story.after(days: 400)
        let cases: [(MetadataError.Code?, (inout PinList) -> Void)] = [
            (
                .wrongName,
                {
                    $0.name = "x"
                    $0.version = 4
                    $0.issuedAt = future
                    $0.expiresAt = future.advanced(by: 1)
                }
            ),
            (
                .rollback,
                {
                    $0.version = 4
                    $0.issuedAt = future
                    $0.expiresAt = future.advanced(by: 1)
                }
            ),
            (
                .equivocation,
                {
                    $0.version = 5
                    $0.issuedAt = future
                    $0.expiresAt = future.advanced(by: 1)
                }
            ),
            (
                .issuedInFuture,
                {
                    $0.version = 6
                    $0.issuedAt = future
                    $0.expiresAt = future.advanced(by: 1)
                }
            ),
            (
                .expired,
                {
                    $0.version = 6
                    $0.issuedAt = Story.after(days: -9)
                    $0.expiresAt = Story.after(days: -8)
                }
            ),
            (nil, { $0.version = 6 }),
        ]
        for (expected, edit) in cases {
            var (client, repository) = try self.client()
            #expect(try code { try client.accept(list: try repository.publishList(edit), at: Story.start) } == expected)
        }
    }

    @Test("a limit that is given is kept to")
    func limitThatIsGivenIsKeptTo() throws {
        var repository = try Story.repository()
        let size = repository.lists[0].count
        let limits = MetadataLimits(listBytes: size)
        var client = try TrustState(
            bundledRoot: repository.roots[0], bundledList: repository.lists[0], limits: limits)
        let longer = try repository.publishList { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        #expect(longer.count > size)
        #expect(try code { try client.accept(list: longer, at: Story.start) } == .tooLarge)
    }

    @Test("more signatures than an envelope holds, and more keys than a root does")
    func moreSignaturesThanAnEnvelopeHoldsAndMoreKeysThanARootDoes() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let key = repository.pinsKeys[0]
        let many = try repository.publishList(signedBy: [SigningKey](repeating: key, count: 33))
        #expect(try code { try client.accept(list: many, at: Story.start) } == .malformed)
        let maximum = try repository.republishList(signedBy: [SigningKey](repeating: key, count: 32))
        #expect(try client.accept(list: maximum, at: Story.start) == .newer)

        let keys = (0..<31).map { _ in repository.newKey(.ed25519) }
        repository.pinsKeys = keys
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.chain.newest.keys.count == 32)
        repository.pinsKeys.append(repository.newKey(.ed25519))
        let refused = try #require(
            try refusal { try client.accept(root: try repository.publishRoot(), at: Story.start) })
        #expect(refused.code == .malformed)
        #expect(refused.isSigned)
    }
}
