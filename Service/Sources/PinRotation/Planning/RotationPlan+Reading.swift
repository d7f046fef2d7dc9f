// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

extension RotationPlan {
    private static let members = [
        "schema", "list", "host", "entries", "pinSet", "new", "pinnedBefore", "old", "announceAt", "switchAt",
        "retireAt",
        "maxRefusing", "steps", "sightings",
    ]

    /// The maximum number of values of a plan: those of the entries, the keys and the steps, with room.
    static let maximumValues = 16_384

    /// Reads a plan as JSON.
    ///
    /// - Parameter bytes: UTF-8, at most ``maximumLength``.
    /// - Throws: ``RotationPlanError``.
    public init(json bytes: [UInt8]) throws(RotationPlanError) {
        guard bytes.count <= Self.maximumLength else {
            throw RotationPlanError(.tooLarge, "", "is over \(Self.maximumLength) bytes")
        }
        let value: JSONValue
        do { value = try JSONValue(strict: bytes, maximumValues: Self.maximumValues) } catch {
            throw RotationPlanError(.malformed, "", "is \(error.description)")
        }
        try self.init(reading: value)
    }

    /// Reads a plan from a value: that of its JSON, or of a YAML file that says the same.
    ///
    /// - Throws: ``RotationPlanError``; of the code `plan-newer-schema` before anything else is looked at.
    public init(reading value: JSONValue) throws(RotationPlanError) {
        try Self.expectSchema(of: value)
        let object = try PlanObject(value, "", known: Self.members)
        self.list = try object.line("list")
        self.host = try Self.host(try object.line("host"), "host")
        var entries: [HostName] = []
        for (value, path) in try object.array("entries", in: 1...Self.maximumEntries) {
            entries.append(try Self.host(try PlanObject.line(value, path), path))
        }
        guard entries.first == self.host, Set(entries).count == entries.count else {
            throw object.malformed("entries", "does not begin with the host, or names an entry twice")
        }
        self.entries = entries
        self.pinSet = try object.optionalLine("pinSet")
        self.new = try PlannedKey(reading: try object.required("new"), "new")
        self.isPinnedBefore = try object.bool("pinnedBefore")
        var old: [PlannedKey] = []
        for (value, path) in try object.array("old", in: 1...Self.maximumKeys) {
            old.append(try PlannedKey(reading: value, path))
        }
        let pins = old.map(\.pin)
        guard Set(pins).count == pins.count, !pins.contains(self.new.pin) else {
            throw object.malformed("old", "has a pin twice, or the new one")
        }
        self.old = old
        self.announceAt = try object.time("announceAt")
        self.switchAt = try object.time("switchAt")
        self.retireAt = try object.time("retireAt")
        guard self.announceAt <= self.switchAt, self.switchAt <= self.retireAt else {
            throw object.malformed("switchAt", "is not between announceAt and retireAt")
        }
        guard let maxRefusing = RefusingLimit(try object.line("maxRefusing")) else {
            throw object.malformed("maxRefusing", "is not a share from 0% to 100%")
        }
        self.maxRefusing = maxRefusing
        let steps = try object.array("steps", in: 1...Self.maximumSteps)
        self.steps = [try RotationStep(reading: steps[0].0, steps[0].1)]
        guard self.state == .planned else { throw RotationPlanError(.malformed, "steps[0].state", "is not planned") }
        self.sightings = try object.value("sightings").map { value throws(RotationPlanError) in
            try KeySightings(reading: value, "sightings")
        }
        for (value, path) in steps.dropFirst() {
            let step = try RotationStep(reading: value, path)
            do { try self.enter(step) } catch {
                // The error of a file is its form.
                throw RotationPlanError(.malformed, error.path, error.reason)
            }
        }
    }

    /// Refuses what a newer tool wrote, before anything else in it is read.
    private static func expectSchema(of value: JSONValue) throws(RotationPlanError) {
        guard case .object(let members) = value else { throw RotationPlanError(.malformed, "", "is not an object") }
        guard case .integer(let schema)? = members.first(where: { $0.name == "schema" })?.value, schema > 0 else {
            throw RotationPlanError(.malformed, "schema", "is missing, or is not a whole number from 1")
        }
        guard schema <= self.schema else {
            throw RotationPlanError(
                .newerSchema, "schema", "is \(schema), and this tool knows \(self.schema): a newer one wrote the plan")
        }
    }

    static func host(_ text: String, _ path: String) throws(RotationPlanError) -> HostName {
        do { return try HostName(text) } catch {
            throw RotationPlanError(.malformed, path, "is not a host: \(error.reason)")
        }
    }
}

extension PlannedKey {
    init(reading value: JSONValue, _ path: String) throws(RotationPlanError) {
        let object = try PlanObject(value, path, known: ["pin", "position", "kept", "heldBy"])
        let pin: Pin
        do { pin = try Pin(canonical: try object.line("pin")) } catch let error as RotationPlanError {
            throw error
        } catch {
            throw object.malformed("pin", "is not a pin: write sha256/… as signed lists do")
        }
        let position = try object.optionalLine("position") ?? KnownPin.Position.any.rawValue
        guard let position = KnownPin.Position(rawValue: position) else {
            throw object.malformed("position", "must be one of any, leaf, issuer")
        }
        var heldBy: [String] = []
        for (value, path) in try object.array("heldBy", in: 0...RotationPlan.maximumKeys) {
            heldBy.append(try PlanObject.line(value, path))
        }
        self.init(pin, position: position, kept: try object.optionalLine("kept"), heldBy: heldBy)
    }
}

extension RotationStep {
    init(reading value: JSONValue, _ path: String) throws(RotationPlanError) {
        let object = try PlanObject(value, path, known: ["state", "at", "version", "forced", "reason"])
        guard let state = RotationState(rawValue: try object.line("state")) else {
            let known = RotationState.allCases.map(\.rawValue).joined(separator: ", ")
            throw object.malformed("state", "must be one of \(known)")
        }
        self.init(
            state, at: try object.time("at"),
            version: object.value("version") == nil
                ? nil : try object.integer("version", in: 1...MetadataLimits.version),
            forced: try object.optionalLine("forced"), reason: try object.optionalLine("reason"))
    }
}

extension KeySightings {
    init(reading value: JSONValue, _ path: String) throws(RotationPlanError) {
        let object = try PlanObject(value, path, known: ["at", "newEverywhereSince", "oldNowhereSince"])
        self.init(
            at: try object.time("at"), newEverywhereSince: try object.optionalTime("newEverywhereSince"),
            oldNowhereSince: try object.optionalTime("oldNowhereSince"))
        for (name, since) in [
            ("newEverywhereSince", self.newEverywhereSince), ("oldNowhereSince", self.oldNowhereSince),
        ] {
            guard let since, since > self.at else { continue }
            throw object.malformed(name, "is \(since), which is after at, \(self.at)")
        }
    }
}
