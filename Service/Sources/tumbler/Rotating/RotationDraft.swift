// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListRepository
import PinRotation

/// A plan before it is written: which pins go, where they are written, and what speaks against it.
struct RotationDraft {
    let knowledge: RotationKnowledge
    let host: HostName

    /// Puts a plan together.
    ///
    /// - Parameters:
    ///   - new: The pin of the key that comes.
    ///   - old: Those that go; none for the one that is served.
    ///   - isShared: Whether the key is meant to be that of other entries as well.
    /// - Throws: ``CommandError`` with the exit code 1 for what speaks against it, and 64 for a named host that it does
    ///   not concern.
    func plan(
        _ new: Pin, _ old: [Pin], isShared: Bool, limit: RefusingLimit, timeline: RotationTimeline, at time: Timestamp
    ) async throws(CommandError) -> RotationPlan {
        let source = self.knowledge.input.source
        guard let domain = source.domains.first(where: { $0.host == self.host }) else {
            let near = NearestName.of("\(self.host)", among: source.domains.map { "\($0.host)" })
            throw CommandError(
                .doesNotHold, "\(self.host) has no entry in tumbler.yaml",
                hint: near.map { "there is \($0)" } ?? "name the domain of an entry")
        }
        let known = domain.pins.map(\.known)
        try Self.expectKeys([new] + old)
        let going = try await old.isEmpty ? self.served(known, new) : old
        try Self.expectKeys(going)
        guard !going.contains(new) else {
            throw CommandError(
                .doesNotHold, "\(new) is the key that is to be replaced",
                hint: "name the new key, and with --old the pins to remove")
        }
        let files = DiskFiles(in: self.knowledge.input.project.folder)
        let scope = try CommandError.wrapping { () throws(RepositoryError) in
            try PinEdit(ProjectFolder.sourceName, files: files).scope(of: going, at: self.host)
        }
        // The new pin matches where the first that goes does.
        let position = known.first { $0.pin == going.first }?.position ?? .any
        let plan = RotationPlan(
            list: source.name, host: self.host, entries: scope.entries, pinSet: scope.pinSet,
            new: PlannedKey(new, position: position), isPinnedBefore: known.contains { $0.pin == new },
            old: going.map { pin in PlannedKey(pin, position: known.first { $0.pin == pin }?.position ?? .any) },
            timeline: timeline, maxRefusing: limit, at: time)
        _ = try self.knowledge.hosts(of: plan)
        let others = source.others(with: new, beside: scope.entries)
        if !others.isEmpty, !isShared {
            throw CommandError(
                .doesNotHold,
                "\(new) is a pin of \(others.prefix(5).map(\.description).joined(separator: ", ")) already",
                hint: "was the wrong file named? --shared, where several hosts are to have one key")
        }
        if let objection = (source.objections(to: plan) + self.knowledge.collisions(of: plan)).first {
            throw CommandError(.doesNotHold, objection, hint: "nothing was planned")
        }
        return plan
    }

    /// Refuses the pins of certificates. Looks compare keys: one that no look sees would count as gone.
    private static func expectKeys(_ pins: [Pin]) throws(CommandError) {
        guard let pin = pins.first(where: { $0.kind == .certificate }) else { return }
        throw CommandError(
            .doesNotHold, "\(pin) is the pin of a certificate: looks compare keys, and would never see it",
            hint: "pin its key in its place first: tumbler pin; or edit tumbler.yaml, then tumbler release --live")
    }

    /// The pins that are served now by a server's own key, at the host and at the hosts that are named; else those that
    /// probes saw. Where there are none, it is unknown which pins go.
    private func served(_ known: [KnownPin], _ new: Pin) async throws(CommandError) -> [Pin] {
        let named = self.knowledge.named.filter { $0 != self.host }
        let addresses = try await self.knowledge.addresses(of: [self.host] + named) ?? []
        let leaves = Set(addresses.compactMap { $0.pins?.first ?? nil })
        let served = known.filter { $0.position.covers(index: 0) && $0.pin != new && leaves.contains($0.pin) }
        if !served.isEmpty { return served.map(\.pin) }
        let seen = self.knowledge.pinsSeen(at: self.host)
        let remembered = known.filter {
            $0.position.covers(index: 0) && $0.pin != new && seen.contains($0.pin.description)
        }
        guard remembered.count == 1 else {
            throw CommandError(
                .undecided, "which pin of \(self.host) goes is not known: \(Self.whyUnknown(addresses, new))",
                hint: "--old PIN names it")
        }
        return remembered.map(\.pin)
    }

    /// The reason for which a probe did not show which pin goes.
    private static func whyUnknown(_ addresses: [KeySightings.Address], _ new: Pin) -> String {
        guard let first = addresses.first else { return "no address was asked" }
        if let served = addresses.first(where: { $0.pins?.first == new }) {
            return "\(served.address) serves the new key already"
        }
        // One that gave no answer may serve it. One without a route says nothing beside a key that was seen.
        let silent = addresses.first { $0.sight == .unseen(KeySightings.Address.noAnswer) }
        if let seen = addresses.first(where: { $0.pins != nil }), silent == nil {
            return "\(seen.address) serves a key of which its entry has no pin"
        }
        return (silent ?? first).gap ?? "no address was asked"
    }
}
