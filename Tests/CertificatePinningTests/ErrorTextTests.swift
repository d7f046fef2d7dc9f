// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// Errors are printed on one line behind a prefix, and counted under a label.
@Suite("Errors")
struct ErrorTextTests {
    private static let defects: [InvalidCertificateError] = [
        .tooLarge, .truncated, .lengthNotDER, .unexpectedElement, .trailingBytes,
    ]

    @Test("each defect of a certificate has words of its own, and equals only itself")
    func eachDefectOfACertificateHasWordsOfItsOwnAndEqualsOnlyItself() {
        #expect(Set(Self.defects).count == Self.defects.count)
        #expect(Set(Self.defects.map(\.description)).count == Self.defects.count)
        #expect(InvalidCertificateError.tooLarge.description.contains("65536"))
    }

    @Test("input errors are compared by their code: what they say may change")
    func inputErrorsAreComparedByTheirCodeWhatTheySayMayChange() {
        #expect(InputError(.pin, "one") == InputError(.pin, "other"))
        #expect(InputError(.pin, "one") != InputError(.host, "one"))
        #expect(Set([InputError(.pin, "one"), InputError(.pin, "other")]).count == 1)
        let codes: [InputError.Code] = [.pin, .host, .timestamp, .pem, .policy]
        #expect(codes.map(\.description) == ["pin", "host", "timestamp", "pem", "policy"])
    }

    @Test(
        "what is refused is not repeated: an input may hold a secret, an escape sequence or a megabyte",
        arguments: ["s3cret\u{1b}[2J", String(repeating: "s3cret", count: 100_000)])
    func whatIsRefusedIsNotRepeatedAnInputMayHoldASecretAnEscapeSequenceOrAMegabyte(input: String) {
        let attempts: [() throws -> Any] = [
            { try Pin(input) }, { try Pin(canonical: input) }, { try HostName(input) }, { try Timestamp(input) },
            { try PEMBlock.blocks(in: "-----BEGIN X-----\n\(input)!\n-----END X-----".utf8) },
        ]
        for attempt in attempts {
            do {
                Issue.record("\(try attempt()) was read")
            } catch {
                #expect(!"\(error)".contains("s3cret"))
                #expect(!"\(error)".contains { $0.isNewline } && "\(error)".utf8.count < 200)
                #expect(error is InputError)
            }
        }
    }
}
