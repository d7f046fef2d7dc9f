// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// A gate's answer with the certificate or key that it is about: the body of `POST /v1/lists/{name}/gates`, and what the
/// audit log keeps (formats.md, section 7).
public struct GateRecord: Hashable, Sendable {
    /// The maximum number of bytes of its JSON (formats.md, section 8).
    public static let maximumLength = 16_384

    /// The answer.
    public let answer: GateAnswer
    /// The lower-case hex SHA-256 of the leaf's DER, or of the key's SubjectPublicKeyInfo.
    public let certificate: String

    /// States a record.
    public init(_ answer: GateAnswer, certificate: String) {
        self.answer = answer
        self.certificate = certificate
    }
}

extension GateRecord: Codable {
    enum CodingKeys: CodingKey { case certificate }

    /// Writes the answer's members, and `certificate` beside them.
    public func encode(to encoder: any Encoder) throws {
        try self.answer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.certificate, forKey: .certificate)
    }

    /// Reads the answer's members, and `certificate` beside them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let certificate = try container.decode(String.self, forKey: .certificate)
        guard ListedLogs.isDigest(certificate) else {
            throw DecodingError.dataCorruptedError(
                forKey: .certificate, in: container, debugDescription: "64 lower-case hex digits")
        }
        self.init(try GateAnswer(from: decoder), certificate: certificate)
    }
}
