// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis
internal import PinRotation

/// `POST /v1/lists/{name}/gates`: what `tumbler gate` answered before a deployment, for the audit log.
struct GateRoute: Sendable {
    /// The action in the audit log.
    static let action = "gate"
    /// The maximum number of values in an answer: it has 13.
    static let maximumValues = 64

    /// The members of an answer, and of the objects in it.
    private static let members: [String: Set<String>] = [
        "": ["host", "notedHostname", "verdict", "matched", "refusing", "reason", "certificate"],
        "matched": ["pin", "position"],
        "refusing": ["share", "measured", "period", "requests"],
    ]

    let parts: ServiceParts
    let access: AdminAccess

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        let actor = try await self.access.expectProber(of: name, request)
        let record = try Self.record(try await request.body(upTo: GateRecord.maximumLength))
        let now = self.parts.clock.now
        do {
            try await self.parts.store.write { store in
                try AuditQuota.expectRoom(for: Self.action, by: actor, in: store, at: now)
                try store.log(Self.action, Self.detail(record, of: name), by: actor, at: now)
            }
        } catch let problem as Problem { throw problem } catch { throw Problem.unavailable(error) }
        return Response(status: .noContent)
    }

    /// Reads an answer: strict JSON but for the share, which is no whole number, with all members and no others.
    static func record(_ body: [UInt8]) throws(Problem) -> GateRecord {
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            value = try JSONValue(strict: body, maximumValues: Self.maximumValues, numbers: .truncated)
        } catch { throw Self.malformed(error.description) }
        guard case .object(let members) = value else { throw Self.malformed("an answer of tumbler gate is an object") }
        try Self.expectMembers(members, of: "")
        for member in members {
            if case .object(let inner) = member.value { try Self.expectMembers(inner, of: member.name) }
        }
        do { return try JSONDecoder().decode(GateRecord.self, from: Data(body)) } catch let error as DecodingError {
            throw Self.malformed(error.text)
        } catch { throw Self.malformed("no answer of tumbler gate") }
    }

    /// Expects all members of an object, and no others.
    private static func expectMembers(_ members: [JSONValue.Member], of name: String) throws(Problem) {
        let wanted = Self.members[name] ?? []
        for member in members where !wanted.contains(member.name) {
            throw Self.malformed("the member \(PrintableText.line(member.name, maximumLength: 64)) is not known")
        }
        if let missing = wanted.subtracting(members.map(\.name)).min() {
            throw Self.malformed("the member \(missing) is missing\(name.isEmpty ? "" : " in \(name)")")
        }
    }

    private static func malformed(_ detail: String) -> Problem { Problem(.badRequest, "malformed", detail) }

    /// The answer in one line, with what it is about.
    static func detail(_ record: GateRecord, of name: String) -> String {
        let (answer, refusing) = (record.answer, record.answer.refusing)
        let share = refusing.share.map { "\(Share.percent($0)) of \(refusing.requests) requests in \(refusing.hours)h" }
        return PrintableText.line(
            "\(name): \(answer.host) \(answer.verdict.rawValue), certificate \(record.certificate), "
                + "refusing: \(share ?? "not measured"): \(answer.reason)", maximumLength: 2_048)
    }
}

extension DecodingError {
    /// The error, and its position.
    fileprivate var text: String {
        let (context, key): (Context, (any CodingKey)?) =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            case .keyNotFound(let key, let context): (context, key)
            @unknown default: (Context(codingPath: [], debugDescription: "not an answer of tumbler gate"), nil)
            }
        let path = (context.codingPath + [key].compactMap { $0 }).map(\.stringValue).joined(separator: ".")
        let words = key == nil ? "is invalid: \(context.debugDescription)" : "is missing"
        // The form was read before: what is left without a place is a number that its member cannot hold.
        let nowhere = "a number is invalid: requests is a whole number, share is from 0 to 1"
        return PrintableText.line(path.isEmpty ? nowhere : "\(path) \(words)", maximumLength: 256)
    }
}
