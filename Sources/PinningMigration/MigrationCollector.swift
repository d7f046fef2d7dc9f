// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Collects entries and warnings while a configuration is read, with the rules for all formats.
struct MigrationCollector {
    private var entries: [HostName: (entry: PinnedDomain, written: String)] = [:]
    private var kept: [MigrationWarning] = []
    private var unkept = 0

    /// Whether there is no entry.
    var isEmpty: Bool { self.entries.isEmpty }

    /// The entries by their names.
    var sortedDomains: [PinnedDomain] {
        self.entries.values.map(\.entry).sorted { $0.domain.description < $1.domain.description }
    }

    /// The warnings; the last one says how many there are beyond the limit.
    var warnings: [MigrationWarning] {
        guard self.unkept > 0 else { return self.kept }
        let last = MigrationWarning(
            setting: "warnings", effect: .same, message: "\(self.unkept) more warnings, which are not listed")
        return self.kept + [last]
    }

    /// Records a difference.
    mutating func warn(
        _ domain: String?, _ setting: String, _ effect: MigrationWarning.Effect, _ message: String
    ) {
        guard self.kept.count < MigrationLimits.warnings else { return self.unkept += 1 }
        self.kept.append(MigrationWarning(domain: domain, setting: setting, effect: effect, message: message))
    }

    /// Normalises a host; an invalid one is left out, with a warning.
    mutating func host(_ written: String, _ setting: String) -> HostName? {
        do throws(InputError) { return try HostName(written) } catch {
            self.warn(written, setting, .weaker, "left out, not a host: \(error)")
            return nil
        }
    }

    /// Reads a pin; an invalid one is left out, with a warning.
    mutating func pin(_ text: String, of domain: String, _ setting: String) -> Pin? {
        do throws(InputError) { return try Pin(text) } catch {
            let shown = PrintableText.line(text, maximumLength: 64)
            self.warn(domain, setting, .stricter, "left out, not a pin: \"\(shown)\": \(error)")
            return nil
        }
    }

    /// The existing entry of a host.
    func entry(for host: HostName) -> PinnedDomain? { self.entries[host]?.entry }

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry. Repeated pins, and those over the limit, are removed.
    ///   - written: Its host as it was written.
    ///   - setting: The name of the setting with its pins.
    /// - Throws: ``MigrationError/Code/tooLarge`` for more hosts than a list holds.
    mutating func add(_ entry: PinnedDomain, written: String, _ setting: String) throws(MigrationError) {
        var entry = entry
        if let other = self.entries[entry.domain] {
            // Other tools compare names as they are written, so only the normal form can have matched.
            let isNormal = written == entry.domain.description
            self.warn(
                written, setting, .weaker,
                "the same host as \"\(PrintableText.line(other.written, maximumLength: 64))\", of which there can be "
                    + "one entry: \(isNormal ? "this one is kept" : "this one is left out")")
            guard isNormal else { return }
        } else if self.entries.count >= MigrationLimits.domains {
            throw MigrationError(
                .tooLarge, "over \(MigrationLimits.domains) hosts", hint: "join subdomains, or part them into two lists"
            )
        }
        if entry.includeSubdomains, entry.domain.isAddress {
            entry.includeSubdomains = false
            self.warn(written, setting, .same, "an IP address has no subdomains")
        }
        var seen = Set<KnownPin>()
        entry.pins = entry.pins.filter { seen.insert($0).inserted }
        if entry.pins.count > MigrationLimits.pins {
            self.warn(
                written, setting, .stricter,
                "the first \(MigrationLimits.pins) of \(entry.pins.count) pins are kept: no entry holds more")
            entry.pins.removeLast(entry.pins.count - MigrationLimits.pins)
        }
        self.warnOfPins(entry, written, setting)
        self.entries[entry.domain] = (entry, written)
    }

    private mutating func warnOfPins(_ entry: PinnedDomain, _ written: String, _ setting: String) {
        guard entry.mode != .off else { return }
        let positions = Set(entry.pins.map(\.position))
        if entry.pins.isEmpty || entry.requireIssuer && !(positions.contains(.leaf) && positions.contains(.issuer)) {
            let outcome = entry.mode == .enforce ? "every connection to it is refused" : "every connection is reported"
            self.warn(
                written, setting, entry.mode == .enforce ? .stricter : .same,
                "no usable pin is left: \(outcome) until there is one")
        } else if entry.mode == .enforce, Set(entry.pins.map(\.pin)).count < 2 {
            self.warn(
                written, setting, .same,
                "one pin and no backup: when its key is lost, all users are locked out. Add the pin of a second key"
            )
        }
    }
}
