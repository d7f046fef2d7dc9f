// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import PinReportAnalysis

/// Gives out challenges, and knows those that any instance gave out. Nothing is stored of one: 32 bytes, of which the first
/// four are its end and the last sixteen an HMAC under a secret of the day, which all instances have from the database.
///
/// A challenge may be used more than once within its ten minutes: what is replayed is stopped by what is stored anyway, a
/// key that is registered once and a counter that only grows.
final class AttestationChallenges: Sendable {
    /// The lifetime of a challenge, in seconds.
    static let lifetime: Int64 = 600

    private let store: any ServiceStore
    /// Secrets that were read, by their day.
    private let secrets = NIOLockedValueBox<[Int64: [UInt8]]>([:])
    /// The secret that is being made, with its day.
    private let making = NIOLockedValueBox<(day: Int64, task: Task<[UInt8], any Error>)?>(nil)

    init(store: any ServiceStore) { self.store = store }

    /// A challenge, and when it ends.
    ///
    /// - Throws: ``StoreError`` where today's secret can be neither read nor made.
    func make(at now: Timestamp) async throws -> (bytes: [UInt8], endsAt: Timestamp) {
        let endsAt = now.before(-Self.lifetime)
        guard let end = UInt32(exactly: endsAt.secondsSince1970) else {
            throw StoreError(.unsupported, "the clock shows a time that no challenge can have")
        }
        var random = SystemRandomNumberGenerator()
        let head = withUnsafeBytes(of: end.bigEndian) { Array($0) } + Self.bytes(12, using: &random)
        return (head + Self.code(head, try await self.secret(of: Self.day(now))), endsAt)
    }

    /// Whether an instance gave a challenge out, and it is still valid.
    ///
    /// - Throws: ``StoreError`` where the secret of its day cannot be read.
    func holds(_ challenge: [UInt8], at now: Timestamp) async throws -> Bool {
        guard challenge.count == AssertionField.challengeBytes else { return false }
        let end = challenge.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let today = Self.day(now)
        let day = Self.day(Timestamp(secondsSince1970: end - Self.lifetime))
        guard end > now.secondsSince1970, end <= now.secondsSince1970 + 2 * Self.lifetime,
            day == today || day == today - 1,
            let secret = try await self.knownSecret(of: day)
        else { return false }
        // Compared in a time that does not depend on where they differ.
        let code = Self.code(Array(challenge.prefix(16)), secret)
        return zip(code, challenge.suffix(16)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// A keyed hash of a network, which nothing outside the database can be compared with; 16 bytes.
    func hash(ofNetwork site: [UInt8], at now: Timestamp) async throws -> [UInt8] {
        Self.code(Array("network".utf8) + site, try await self.secret(of: Self.day(now)))
    }

    /// Today's secret, made once: all that ask for it at midnight wait for one transaction, and reports for no line of them.
    private func secret(of day: Int64) async throws -> [UInt8] {
        if let known = self.secrets.withLockedValue({ $0[day] }) { return known }
        let task = self.making.withLockedValue { making in
            if let making, making.day == day { return making.task }
            let task = Task { try await self.madeSecret(of: day) }
            making = (day, task)
            return task
        }
        return try await task.value
    }

    private func madeSecret(of day: Int64) async throws -> [UInt8] {
        // One that could not be made is tried again by the next who asks.
        defer {
            self.making.withLockedValue { making in
                guard making?.day == day else { return }
                making = nil
            }
        }
        if let known = self.secrets.withLockedValue({ $0[day] }) { return known }
        var random = SystemRandomNumberGenerator()
        let fresh = Self.bytes(32, using: &random)
        let secret = try await self.store.append { try $0.attestationSecret(of: day, orNew: fresh) }
        self.keep(secret, of: day)
        return secret
    }

    private func knownSecret(of day: Int64) async throws -> [UInt8]? {
        if let known = self.secrets.withLockedValue({ $0[day] }) { return known }
        guard let secret = try await self.store.read(for: .stranger, { try $0.attestationSecret(of: day) }) else {
            return nil
        }
        self.keep(secret, of: day)
        return secret
    }

    private func keep(_ secret: [UInt8], of day: Int64) {
        self.secrets.withLockedValue { secrets in
            secrets = secrets.filter { $0.key >= day - 1 }
            secrets[day] = secret
        }
    }

    private static func day(_ time: Timestamp) -> Int64 { time.hour / 24 }

    private static func code(_ message: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        Array(Self.wholeCode(message, secret).prefix(16))
    }

    private static func wholeCode(_ message: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    }

    private static func bytes(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
