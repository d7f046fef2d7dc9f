// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata

/// Questions on what is in force after roots and lists, in their order.
extension VectorQuestion {
    /// Begins with what an app ships, and offers one envelope after the other.
    func follow() throws -> JSONValue {
        var state: TrustState
        let root = Array(try self.text("root").utf8)
        let list = try self.optionalText("list").map { Array($0.utf8) }
        let buildDate = try self.optionalTime("buildDate")
        do throws(MetadataError) {
            state = try TrustState(bundledRoot: root, bundledList: list, buildDate: buildDate)
        } catch {
            return .members(["refused": Self.refused(error)])
        }
        if self.value("mark") != nil {
            let mark = try self.object("mark")
            state.mark = VersionMark(
                name: try mark.text("name"), version: try mark.integer("version"), keyIDs: try mark.texts("keyids"))
        }
        let before = Self.inForce(state, at: nil)
        let steps = try self.objects("steps").map { try $0.step(&state) }
        return .members(["inForce": before, "steps": .array(steps)])
    }

    private func step(_ state: inout TrustState) throws -> JSONValue {
        let time = try self.optionalTime("at")
        let isRoot = self.value("root") != nil
        let offered = Array(try self.text(isRoot ? "root" : "list").utf8)
        var members: [String: JSONValue] = [:]
        do throws(MetadataError) {
            members["result"] = .string(try Self.offer(offered, isRoot: isRoot, to: &state, at: time))
        } catch {
            members["result"] = .string("refused")
            members["code"] = .string(error.code.description)
            if let expired = error.expired { members["of"] = .string(expired.rawValue) }
        }
        members["root"] = .integer(state.chain.newest.version)
        members["inForce"] = Self.inForce(state, at: time)
        return .members(members)
    }

    /// Offers what came from outside; without a time it was stored.
    private static func offer(
        _ bytes: [UInt8], isRoot: Bool, to state: inout TrustState, at time: Timestamp?
    ) throws(MetadataError) -> String {
        if isRoot {
            if let time { try state.accept(root: bytes, at: time) } else { try state.load(root: bytes) }
            return "newer"
        }
        guard let time else {
            try state.load(list: bytes)
            return "loaded"
        }
        switch try state.accept(list: bytes, at: time) {
        case .newer: return "newer"
        case .unchanged: return "unchanged"
        case .resigned: return "resigned"
        case .signatureLost: return "signature-lost"
        }
    }

    private static func inForce(_ state: TrustState, at time: Timestamp?) -> JSONValue {
        guard let (held, source) = state.inForce else { return .null }
        var members: [String: JSONValue] = [
            "digest": .string(held.digest), "source": .string(source.rawValue),
            "status": .string(held.status.rawValue), "version": .integer(held.list.version),
        ]
        if let time { members["stale"] = .bool(state.isStale(time)) }
        return .members(members)
    }

    private static func refused(_ refusal: MetadataError) -> JSONValue {
        .members(["code": .string(refusal.code.description), "what": .string(refusal.kind.rawValue)])
    }
}
