// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The named pin sets of a source: pins that several entries use. Clients never see the names; `build` writes the pins
/// into each entry (formats.md, section 9).
struct PinSets {
    /// The maximum number of sets of a source: a set is for keys that several entries share, so there are fewer than
    /// entries.
    private static let maximum = 1_024

    private var sets: [String: (position: SourcePosition, pins: [SourcePin])] = [:]
    private var used: Set<String> = []

    /// A source without sets.
    init() {}

    /// Reads `pinSets`.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    init(_ value: YAMLValue, _ material: inout SourceMaterial) throws(RepositoryError) {
        guard case .mapping(let members) = value.content else {
            throw value.position.error(
                "pinSets is \(value.kind), not names with their pins",
                hint: "write NAME: [{pin: \"sha256/…\"}] below it")
        }
        guard members.count <= Self.maximum else { throw value.position.error("over \(Self.maximum) pin sets") }
        for member in members {
            guard ListSource.isName(member.name) else {
                throw member.position.error(
                    "the name of a pin set is not a letter or digit and up to 127 of letters, digits, '.', '_', '-'")
            }
            guard case .sequence(let values) = member.value.content, !values.isEmpty else {
                throw member.position.error(
                    "the pin set \(member.name) has no pin", hint: "begin each pin with -, or remove the set")
            }
            guard values.count <= MetadataLimits.pins else {
                throw values[MetadataLimits.pins].position.error("\(member.name) has over \(MetadataLimits.pins) pins")
            }
            var pins: [SourcePin] = []
            for value in values { pins.append(try SourcePin(value, &material)) }
            self.sets[member.name] = (member.position, pins)
        }
    }

    /// The pins that an entry uses, set by set.
    ///
    /// - Throws: ``RepositoryError`` for a name that no set has, and for one that is there twice.
    mutating func pins(of names: [Located<String>]) throws(RepositoryError) -> [SourcePin] {
        var pins: [SourcePin] = []
        var seen: Set<String> = []
        for name in names {
            guard let set = self.sets[name.value] else {
                let nearest = NearestName.of(name.value, among: self.sets.keys.sorted()).map { "write \($0)" }
                throw name.position.error(
                    "there is no pin set \(PrintableText.line(name.value, maximumLength: 64))",
                    hint: nearest ?? "write it into pinSets: of tumbler.yaml")
            }
            guard seen.insert(name.value).inserted else {
                throw name.position.error("\(name.value) is used already", hint: "name each set once")
            }
            self.used.insert(name.value)
            pins += set.pins
        }
        return pins
    }

    /// The sets that no entry uses, in the order of the source.
    var unused: [Located<String>] {
        self.sets.filter { !self.used.contains($0.key) }.map { Located($0.key, $0.value.position) }
            .sorted { ($0.position.line, $0.value) < ($1.position.line, $1.value) }
    }
}
