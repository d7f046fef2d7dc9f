// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

extension RotationPlan {
    /// The plan as a value: members in a fixed order, those without anything left out.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("schema", .integer(Self.schema)),
            .init("list", .string(self.list)),
            .init("host", .string(self.host.description)),
            .init("entries", .array(self.entries.map { .string($0.description) })),
        ]
        if let pinSet { members.append(.init("pinSet", .string(pinSet))) }
        members.append(.init("new", self.new.json))
        if self.isPinnedBefore { members.append(.init("pinnedBefore", .bool(true))) }
        members += [
            .init("old", .array(self.old.map(\.json))),
            .init("announceAt", .string(self.announceAt.description)),
            .init("switchAt", .string(self.switchAt.description)),
            .init("retireAt", .string(self.retireAt.description)),
            .init("maxRefusing", .string(self.maxRefusing.description)),
            .init("steps", .array(self.steps.map(\.json))),
        ]
        if let sightings { members.append(.init("sightings", sightings.json)) }
        return .object(members)
    }

    /// The plan as compact JSON: equal plans have equal bytes.
    public var bytes: [UInt8] { self.json.bytes }
}

extension PlannedKey {
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("pin", .string(self.pin.description))]
        if self.position != .any { members.append(.init("position", .string(self.position.rawValue))) }
        if let kept { members.append(.init("kept", .string(kept))) }
        if !self.heldBy.isEmpty { members.append(.init("heldBy", .array(self.heldBy.map { .string($0) }))) }
        return .object(members)
    }
}

extension RotationStep {
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", .string(self.state.rawValue)), .init("at", .string(self.at.description)),
        ]
        if let version { members.append(.init("version", .integer(version))) }
        if let forced { members.append(.init("forced", .string(forced))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }
}

extension KeySightings {
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("at", .string(self.at.description))]
        if let newEverywhereSince {
            members.append(.init("newEverywhereSince", .string(newEverywhereSince.description)))
        }
        if let oldNowhereSince { members.append(.init("oldNowhereSince", .string(oldNowhereSince.description))) }
        return .object(members)
    }
}
