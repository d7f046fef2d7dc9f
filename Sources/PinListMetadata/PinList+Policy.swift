// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Crypto

extension PinList {
    /// The effect of the entries of a stale list.
    public enum WhenStale: String, Hashable, Sendable {
        /// They are enforced as before. An attacker who blocks updates gains nothing.
        case enforce
        /// They only report: an attacker who blocks updates for long enough switches pinning off.
        case report
        /// They block: an attacker who blocks updates for long enough locks all users out.
        case deny
    }

    /// The rules for one installation.
    ///
    /// - Parameters:
    ///   - installation: The installation; `nil` where its id cannot be stored, which enforces only what all
    ///     installations do.
    ///   - isStale: Whether the list has expired.
    ///   - whenStale: The effect of its entries then.
    ///   - observing: Whether all entries only report, also those with mode `enforce`: for a first deployment.
    /// - Throws: `InputError` for a list made in code that no payload could hold.
    public func policy(
        for installation: InstallationID?, isStale: Bool, whenStale: WhenStale = .enforce,
        observing: Bool = false
    ) throws(InputError) -> PinningPolicy {
        let domains = self.domains.map { domain in
            var entry = domain.entry
            entry.isInRollout = domain.rollout >= 100 || self.isEnforced(domain, for: installation)
            if entry.reportTo.isEmpty { entry.reportTo = self.reportTo }
            if isStale, entry.mode != .off {
                switch whenStale {
                case .enforce: break
                case .report: entry.mode = .report
                case .deny:
                    // An enforcing entry without a pin blocks.
                    entry.mode = .enforce
                    entry.isInRollout = true
                    entry.pins = []
                }
            }
            return entry
        }
        let policy = try PinningPolicy(
            list: ListIdentity(name: self.name, version: self.version, stale: isStale), domains: domains,
            denied: self.denied, revoked: self.revoked, suspended: self.suspended, unlisted: self.unlisted)
        return observing ? policy.reportingOnly : policy
    }

    private func isEnforced(_ domain: Domain, for installation: InstallationID?) -> Bool {
        guard let installation else { return false }
        return installation.place(in: self.name, domain.entry.domain) < UInt64(clamping: domain.rollout)
    }
}

/// The id of an installation: 16 random bytes that never leave the device.
public struct InstallationID: Hashable, Sendable {
    /// The number of bytes.
    public static let length = 16

    /// The bytes.
    public let bytes: [UInt8]

    /// The id with these bytes, or `nil` when there are not 16 of them.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// The installation's place for a domain, 0 to 99: stable, and independent of its place for any other domain.
    public func place(in list: String, _ domain: HostName) -> UInt64 {
        self.number(of: [list, domain.description]) % 100
    }

    /// The first 8 bytes, big-endian, of the SHA-256 of the id and texts, a zero byte before each of these.
    func number(of texts: [String]) -> UInt64 {
        var hash = SHA256()
        hash.update(data: texts.reduce(into: self.bytes) { $0 += [0] + Array($1.utf8) })
        return hash.finalize().prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
}
