// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Parsers) import AppAttestation
import CertificatePinning
import CommandLineInterface
import Foundation

/// The question to `tumbler attest`: the same from the command line and from a line of a batch.
struct AttestQuestion: Sendable {
    /// The kind of data to verify.
    enum Kind: String, Sendable {
        case attestation, assertion, receipt
    }

    /// The maximum number of characters of an app id, and of the hash in hexadecimal digits.
    private static let maximumTextLength = 1_024

    let kind: Kind

    /// The attestation, assertion or receipt.
    var object: [UInt8] = []
    var clientData: ClientData?
    var key: AttestedKey?
    var counter: UInt32 = 0
    /// The root in DER in place of Apple's.
    var root: [UInt8]?
    private var appID: String?
    private var keyID: [UInt8] = []
    private var environment: AttestationEnvironment?
    private var categories: Set<LaunchCategory>?
    private var time: Timestamp?

    /// A question without its details.
    init(_ kind: Kind) { self.kind = kind }

    /// Takes an app id.
    mutating func take(appID: String) throws(CommandError) {
        guard !appID.isEmpty, appID.utf8.count <= Self.maximumTextLength else {
            throw CommandError(.usage, "an app id is TEAMID.bundle.id")
        }
        self.appID = appID
    }

    /// Takes a key id in base64.
    mutating func take(keyID: String) throws(CommandError) {
        guard let bytes = AttestFile.base64(keyID.utf8), !bytes.isEmpty else {
            throw CommandError(.usage, "a key id is base64")
        }
        self.keyID = bytes
    }

    /// Takes a hash of any length, in hexadecimal digits.
    mutating func take(clientDataHash text: String) throws(CommandError) {
        let digits = text.unicodeScalars.map { $0.isASCII ? Character($0).hexDigitValue : nil }
        guard !digits.isEmpty, digits.count % 2 == 0, digits.count <= Self.maximumTextLength else {
            throw CommandError(.usage, "a client data hash is an even number of hexadecimal digits")
        }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else {
                throw CommandError(.usage, "a client data hash is hexadecimal digits")
            }
            bytes.append(UInt8(high << 4 | low))
        }
        self.clientData = .hash(bytes)
    }

    /// Takes the name of an environment.
    mutating func take(environment: String) throws(CommandError) {
        guard let environment = AttestationEnvironment(rawValue: environment) else {
            throw CommandError(.usage, "an environment is production or development")
        }
        self.environment = environment
    }

    /// Takes launch categories: numbers with commas.
    mutating func take(categories text: String) throws(CommandError) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { UInt32($0) }
        guard numbers.count <= 64, !numbers.contains(nil) else {
            throw CommandError(.usage, "categories are numbers with commas between them")
        }
        self.take(categories: numbers.compactMap { $0 })
    }

    /// Takes launch categories.
    mutating func take(categories: [UInt32]) { self.categories = Set(categories.map(LaunchCategory.init)) }

    /// Takes a time of RFC 3339, with or without a fraction.
    mutating func take(time text: String) throws(CommandError) {
        do throws(InputError) { self.time = try Timestamp(roundingDownText: text) } catch {
            throw CommandError(.usage, "\(error)")
        }
    }

    /// Verifies.
    func answer() async -> AttestAnswer {
        let time = self.time ?? Timestamp(roundingDown: Date().timeIntervalSince1970)
        do throws(AttestationError) {
            switch self.kind {
            case .attestation: return try await self.attestation(at: time)
            case .assertion: return try await self.assertion()
            case .receipt:
                let verifier = ReceiptVerifier(appID: self.appID, anchor: self.root.map(ReceiptAnchor.root) ?? .apple)
                return AttestAnswer(try await verifier.verify(self.object, at: time))
            }
        } catch {
            return AttestAnswer(refused: error.step, error.reason)
        }
    }

    private func attestation(at time: Timestamp) async throws(AttestationError) -> AttestAnswer {
        let verifier = AttestationVerifier(
            appID: self.appID ?? "", environment: self.environment ?? .production, categories: self.categories,
            root: self.root ?? AppleRoot.appAttestation)
        return AttestAnswer(
            try await verifier.verify(
                self.object, keyID: self.keyID, challenge: self.clientData ?? .hash([]), at: time))
    }

    private func assertion() async throws(AttestationError) -> AttestAnswer {
        guard let key else { return AttestAnswer(refused: nil, "the key is missing") }
        // The facts of the service's store alone, its challenges and the attestation's names, are not asked for.
        let known = KnownKey(key, counter: self.counter, namesCategory: false, namesBundleVersion: false)
        let categories = self.categories ?? (self.environment ?? .development).usualCategories
        let verifier = AssertionVerifier(appID: self.appID ?? "", categories: categories)
        return AttestAnswer(
            try await verifier.verify(self.object, by: known, clientData: self.clientData ?? .hash([])) { true }, key)
    }
}
