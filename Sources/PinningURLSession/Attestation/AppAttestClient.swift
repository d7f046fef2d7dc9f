// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
@_spi(Adapters) public import PinListClient
internal import PinListMetadata

/// A store for the state of this installation's key, which outlives the process.
public protocol AttestationKeyStore: Sendable {
    /// The stored bytes; `nil` for none.
    ///
    /// - Throws: An error where it cannot be read now: then nothing is attested, and no key is made.
    func load() throws -> [UInt8]?

    /// Stores bytes, a few hundred at most; `nil` removes them.
    func save(_ bytes: [UInt8]?) throws
}

/// The app's half of App Attest: one key of this installation, attested once, and a signature for each request.
///
/// With an origin, it registers the key at the service and signs reports to it:
///
///     var configuration = PinningConfiguration.urlSession
///     configuration.attestation = AppAttestClient(name: "com.example.app", origin: "https://pins.example.com")
///
/// Without one, it sends nothing, and needs nothing else of this library: ``attest(challenge:)`` and ``assertion(for:)``
/// give the app what it sends to a server of its own.
///
/// **Off by default**: the id of the key identifies the installation to the server for as long as the app is
/// installed; nothing else that is sent does (docs/decisions/0061).
///
/// It never blocks a report: on a device without support, after an error, or when a server does not answer, the report
/// is sent unsigned, with the reason. After a failure the next attempt to attest a key waits for a day and up
/// to six hours more.
public actor AppAttestClient: ReportAttestor {
    /// The wait after a failed attempt, in seconds: a day, and a random part of six hours.
    static let pause: Int64 = 86_400
    static let jitter: Int64 = 21_600
    /// The time for which a challenge is used after it came, in seconds: the service accepts it for ten minutes
    /// (formats.md, section 7).
    static let challengeLifetime: Int64 = 540
    /// The maximum wait for each answer of Apple and of the service, in seconds, as for a list.
    static let patience = 15.0
    /// The maximum length of an attestation that is sent, in bytes, as many as the service reads; Apple's have some
    /// thousand.
    static let maximumAttestation = 65_536

    /// The list whose service it uses, or a name for the app's own server.
    public let name: String
    /// The origin of that service: scheme, host and port, as `https://pins.example.com`; `nil` for a server of the app's
    /// own.
    public let origin: String?

    /// The device.
    let service: any AppAttestService
    private let keys: any AttestationKeyStore
    private let transport: any ReportSender
    /// The clock for the time of the next attempt.
    let clock: any PinningClock
    private let randomness: any PinningRandomness
    private var challenge: (bytes: [UInt8], until: Timestamp)?

    /// The stored state of the key.
    struct Kept: Codable, Hashable {
        /// The id of the key, as the device gave it; `nil` for none.
        var keyID: String?
        /// Whether the service has registered it; for a server of the app's own, whether Apple has attested it.
        var isRegistered = false
        /// The time of that, in seconds since 1970.
        var registeredAt: Int64 = 0
        /// The time before which nothing is attested, in seconds since 1970.
        var notBefore: Int64 = 0
        /// The id of the key before, for a server of the app's own: it signs until its successor is attested.
        var before: String?
    }

    /// Creates a client with given parts; see `init(name:origin:)` for an app's.
    ///
    /// - Parameters:
    ///   - name: The list's name, or a name for the app's own server.
    ///   - origin: The origin of the service: scheme, host and port; `nil` for a server of the app's own.
    ///   - service: The device.
    ///   - keys: The store of the key's id.
    ///   - transport: Posts challenges and keys, under the platform's default validation.
    ///   - clock: The clock for the time of the next attempt.
    ///   - randomness: Spreads attempts over time.
    public init(
        name: String, origin: String? = nil, service: any AppAttestService, keys: any AttestationKeyStore,
        transport: any ReportSender = URLSessionFetcher(), clock: any PinningClock = SystemClock(),
        randomness: any PinningRandomness = SystemRandomness()
    ) {
        self.name = name
        self.origin = origin
        self.service = service
        self.keys = keys
        self.transport = transport
        self.clock = clock
        self.randomness = randomness
    }

    /// Signs a report to the origin; a report to any other address is not signed.
    public func attestation(of body: [UInt8], to address: String) async -> ReportSignature {
        guard let base = self.base(of: address) else { return .elsewhere }
        do throws(AppAttestError) { return .signed(try await self.assertion(for: body, at: base)) } catch {
            return .unsigned(error.code)
        }
    }

    /// Takes the next challenge from an answer, and removes a key that the service does not have.
    public func answered(_ answer: FetchResponse, from address: String) async {
        guard self.base(of: address) != nil else { return }
        if let challenge = answer.fields["tumbler-challenge"].flatMap({ Base64.decode($0.utf8) }) {
            self.keep(challenge)
        }
        guard answer.fields["tumbler-attestation"] == "unknown-key", let kept = try? self.kept(), kept.isRegistered
        else { return }
        try? self.keep(Self.successor(of: kept))
    }

    /// The state after a lost key: the next key is made a day later at the earliest, so that a service that lost all
    /// keys gets one attestation a day.
    static func successor(of kept: Kept) -> Kept {
        Kept(notBefore: min(max(kept.registeredAt, 0), Int64(1) << 50) + Self.pause)
    }

    /// Attests and registers this installation's key, where that was not done. An app may call it at a quiet moment,
    /// spread over days: Apple asks for fewer than 100 attestations a second for an app.
    ///
    /// - Parameter address: The base of the service within the origin, as `https://pins.example.com`; the origin by
    ///   default.
    /// - Throws: `AppAttestError`; `failed`, with nothing sent, for an address of another origin.
    public func prepare(at address: String? = nil) async throws(AppAttestError) {
        guard let base = (address ?? self.origin).flatMap({ self.base(of: $0 + Self.reports) }) else {
            throw AppAttestError(.failed)
        }
        _ = try await self.registeredKey(at: base)
    }

    /// The value of `Tumbler-Assertion` for a body.
    private func assertion(for body: [UInt8], at base: String) async throws(AppAttestError) -> String {
        let keyID = try await self.registeredKey(at: base)
        let challenge = try await self.takeChallenge(at: base)
        let hash = ReportSignature.clientDataHash(name: self.name, challenge: challenge, body: body)
        let assertion = try await self.signature(by: keyID, over: hash)
        let members = [
            ("keyId", keyID), ("challenge", Base64.encode(challenge)), ("assertion", Base64.encode(assertion)),
        ]
        return Base64.encode(JSONValue.object(members.map { .init($0.0, .string($0.1)) }).bytes)
    }

    /// The signature of a key over a hash. A key that the device has no more is removed.
    func signature(by keyID: String, over hash: [UInt8]) async throws(AppAttestError) -> [UInt8] {
        let service = self.service
        do throws(AppAttestError) {
            return try await self.patiently { try await service.generateAssertion(keyID, clientDataHash: hash) }
        } catch {
            // The Keychain outlives a reinstallation, and the key does not.
            if error.code == .invalidKey {
                var kept = try self.kept()
                // Another request may have replaced it meanwhile.
                if kept.before == keyID {
                    kept.before = nil
                    try self.keep(kept)
                } else if kept.keyID == keyID {
                    try self.keep(Self.successor(of: kept))
                }
            }
            throw error
        }
    }

    /// The id of a key that the service has.
    private func registeredKey(at base: String) async throws(AppAttestError) -> String {
        guard self.service.isSupported else { throw AppAttestError(.unsupported) }
        var kept = try self.kept()
        if kept.isRegistered, let keyID = kept.keyID { return keyID }
        try self.begin(&kept)
        let challenge = try await self.takeChallenge(at: base)
        let keyID = try await self.keyID(&kept)
        let attestation = try await self.attest(keyID, challenge: challenge, &kept)
        try await self.register(keyID, attestation, challenge, at: base, &kept)
        try self.finish(&kept)
        return keyID
    }

    /// Begins an attempt to attest a key: the next one waits for a day, unless this one succeeds.
    ///
    /// - Throws: `AppAttestError`, `waiting` before its time.
    func begin(_ kept: inout Kept) throws(AppAttestError) {
        let now = self.clock.now.secondsSince1970
        // A clock that was ahead does not delay it for ever.
        guard kept.notBefore <= now || kept.notBefore > now + Self.pause + Self.jitter else {
            throw AppAttestError(.waiting)
        }
        // Recorded before the attempt, so that an attempt that ends the process does not end it at every start.
        kept.notBefore = now + Self.pause + self.randomJitter()
        try self.keep(kept)
    }

    /// Ends an attempt that succeeded.
    func finish(_ kept: inout Kept) throws(AppAttestError) {
        kept.isRegistered = true
        kept.registeredAt = self.clock.now.secondsSince1970
        kept.notBefore = 0
        kept.before = nil
        try self.keep(kept)
    }

    /// The id of the key that is to be attested, made where there is none.
    func keyID(_ kept: inout Kept) async throws(AppAttestError) -> String {
        if let keyID = kept.keyID { return keyID }
        let service = self.service
        let keyID = try await self.patiently { try await service.generateKey() }
        kept.keyID = keyID
        try self.keep(kept)
        return keyID
    }

    /// Has Apple attest a key.
    func attest(
        _ keyID: String, challenge: [UInt8], _ kept: inout Kept
    ) async throws(AppAttestError) -> [UInt8] {
        let service = self.service
        let hash = ReportSignature.clientDataHash(challenge: challenge)
        do throws(AppAttestError) {
            return try await self.patiently { try await service.attestKey(keyID, clientDataHash: hash) }
        } catch {
            // Apple: the same key where its server did not answer, and a new one after any other error.
            if error.code != .appleUnavailable, error.code != .timeout {
                kept.keyID = nil
                try self.keep(kept)
            }
            throw error
        }
    }

    private func register(
        _ keyID: String, _ attestation: [UInt8], _ challenge: [UInt8], at base: String, _ kept: inout Kept
    ) async throws(AppAttestError) {
        guard attestation.count <= Self.maximumAttestation else { throw AppAttestError(.failed) }
        let members = [
            ("name", self.name), ("keyId", keyID), ("challenge", Base64.encode(challenge)),
            ("attestation", Base64.encode(attestation)),
        ]
        let body = JSONValue.object(members.map { .init($0.0, .string($0.1)) }).bytes
        do throws(AppAttestError) {
            let status = try await self.post(body, to: base + "/v1/attest/keys").status
            guard status == 201 || status == 200 else {
                throw AppAttestError(status == 403 ? .refused : .serviceUnavailable)
            }
        } catch {
            // A key can be attested once: an attestation that was refused or did not arrive is not tried again.
            kept.keyID = nil
            try self.keep(kept)
            throw error
        }
    }

    /// A challenge, the one of the last answer where it is fresh; each is used once.
    private func takeChallenge(at base: String) async throws(AppAttestError) -> [UInt8] {
        let held = self.challenge
        self.challenge = nil
        if let held, held.until > self.clock.now { return held.bytes }
        let answer = try await self.post([], to: base + "/v1/attest/challenges")
        guard answer.status == 201, case .object(let members)? = try? JSONValue(strict: answer.body, maximumValues: 8),
            case .string(let text)? = members.first(where: { $0.name == "challenge" })?.value,
            let challenge = Base64.decode(text.utf8), challenge.count == 32
        else { throw AppAttestError(.serviceUnavailable) }
        return challenge
    }

    private func keep(_ challenge: [UInt8]) {
        guard challenge.count == 32 else { return }
        self.challenge = (
            challenge, Timestamp(secondsSince1970: self.clock.now.secondsSince1970 + Self.challengeLifetime)
        )
    }

    private func post(_ body: [UInt8], to address: String) async throws(AppAttestError) -> FetchResponse {
        let transport = self.transport
        return try await self.patiently { () async throws -> FetchResponse in
            do { return try await transport.send(body, to: address) } catch {
                throw AppAttestError(.serviceUnavailable)
            }
        }
    }

    /// The path of reports at the service.
    private static let reports = "/v1/reports"

    /// The address of the service without `/v1/reports`, for one of the origin; `nil` for all others.
    private func base(of address: String) -> String? {
        guard ReportAddress.isAllowed(address), address.hasSuffix(Self.reports),
            !address.contains(where: { "?#".contains($0) }), let here = RequestTarget(address),
            let there = self.origin.flatMap({ RequestTarget($0) }), here.isTLS == there.isTLS,
            here.host.lowercased() == there.host.lowercased(), here.port == there.port
        else { return nil }
        return String(address.dropLast(Self.reports.count))
    }

    private func randomJitter() -> Int64 {
        Int64(clamping: UInt64(Self.jitter + 1).multipliedFullWidth(by: self.randomness.bits()).high)
    }

    /// The stored state.
    func kept() throws(AppAttestError) -> Kept {
        let bytes: [UInt8]?
        do { bytes = try self.keys.load() } catch { throw AppAttestError(.storage) }
        guard let bytes, bytes.count <= 1_024 else { return Kept() }
        return (try? JSONDecoder().decode(Kept.self, from: Data(bytes))) ?? Kept()
    }

    /// Stores a state.
    func keep(_ kept: Kept) throws(AppAttestError) {
        do { try self.keys.save([UInt8](try JSONEncoder().encode(kept))) } catch { throw AppAttestError(.storage) }
    }

    /// Waits with a limit for a function that may never end and cannot be cancelled: Apple's functions have no limit.
    func patiently<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws(AppAttestError) -> Value {
        let clock = self.clock
        let result: Result<Value, AppAttestError> = await withCheckedContinuation { continuation in
            let first = FirstResult<Result<Value, AppAttestError>>(continuation)
            let task = Task {
                do { first.give(.success(try await work())) } catch {
                    first.give(.failure(error as? AppAttestError ?? AppAttestError(.failed)))
                }
            }
            let limit = Task {
                guard (try? await clock.sleep(seconds: Self.patience)) != nil else { return }
                task.cancel()
                first.give(.failure(AppAttestError(.timeout)))
            }
            first.afterwards { limit.cancel() }
        }
        return try result.get()
    }
}

/// The first of several results.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class FirstResult<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Value, Never>?
    private var end: (@Sendable () -> Void)?
    private var isGiven = false

    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = continuation }

    func give(_ value: Value) {
        let (continuation, end) = self.lock.withLock {
            defer { (self.continuation, self.isGiven) = (nil, true) }
            return (self.continuation, self.isGiven ? nil : self.end)
        }
        end?()
        continuation?.resume(returning: value)
    }

    /// The continuation for the result.
    func afterwards(_ end: @escaping @Sendable () -> Void) {
        let isOver = self.lock.withLock {
            self.end = end
            return self.isGiven
        }
        if isOver { end() }
    }
}
