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

/// `/v1/lists/{name}/rotations` and `/v1/lists/{name}/rotations/{host}`: the plans of rotations, shared by all who work
/// on them. What is stored is what was pushed, byte for byte, after it was read as a plan.
struct RotationRoute: Sendable {
    /// The action in the audit log.
    static let action = "rotation"

    let parts: ServiceParts
    let access: AdminAccess

    /// `GET /v1/lists/{name}/rotations`: where each stands.
    func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        try await self.access.expectReader(of: name, request)
        guard self.parts.lists.names[name] != nil else { throw Self.notPublished }
        do {
            let stored = try await self.parts.store.read { try $0.rotations(of: name) }
            return .json(.object([.init("name", .string(name)), .init("rotations", .array(stored.map(Self.summary)))]))
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }

    /// `GET /v1/lists/{name}/rotations/{host}`: the plan.
    func read(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        try await self.access.expectReader(of: name, request)
        let host = try Self.host(context)
        let stored: StoredRotation?
        do { stored = try await self.parts.store.read { try $0.rotation(of: name, host: host.description) } } catch {
            throw Problem.unavailable(error)
        }
        guard let stored else {
            throw Problem.notFound("no rotation of \(host) is stored; tumbler rotate plan makes a plan")
        }
        let tag = EntityTag(digest: stored.digest)
        if request.headers[.ifNoneMatch].flatMap({ EntityTag.tags(in: $0) })?.contains(tag) == true {
            return Response(status: .notModified, headers: [.eTag: tag.text, .cacheControl: "no-store"])
        }
        var response = Response.bytes(stored.bytes, "application/json")
        response.headers[.eTag] = tag.text
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    /// `PUT /v1/lists/{name}/rotations/{host}`: stores the plan, unless another one was faster.
    func write(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        let actor = try await self.access.expectPublisher(of: name, request)
        let host = try Self.host(context)
        let condition = try Self.condition(request.headers)
        let body = try await request.body(upTo: RotationPlan.maximumLength)
        let plan = try Self.plan(body, of: name, host: host)
        guard let list = self.parts.lists.names[name]?.published.list?.list else { throw Self.notPublished }
        let isListed = list.domains.contains { $0.entry.domain == host }
        let now = self.parts.clock.now
        let rotation = StoredRotation(name: name, host: host.description, storedAt: now, bytes: body)
        let storing: RotationStoring?
        do {
            storing = try await self.parts.store.write(as: .publications) { store -> RotationStoring? in
                // A rotation goes on when its entry has gone.
                guard try isListed || store.rotation(of: name, host: rotation.host) != nil else { return nil }
                let storing = try store.put(rotation, if: condition)
                guard case .stored = storing else { return storing }
                try AuditQuota.expectRoom(for: Self.action, by: actor, in: store, at: now)
                try store.log(Self.action, Self.detail(plan, of: name, digest: rotation.digest), by: actor, at: now)
                return storing
            }
        } catch let problem as Problem { throw problem } catch { throw Problem.unavailable(error) }
        return try Self.answer(storing, rotation)
    }

    private static func answer(_ storing: RotationStoring?, _ rotation: StoredRotation) throws(Problem) -> Response {
        switch storing {
        case .stored(let isNew):
            return Response(
                status: isNew ? .created : .ok,
                headers: [
                    .eTag: EntityTag(digest: rotation.digest).text, .contentLength: "0", .cacheControl: "no-store",
                ])
        case .changed(let digest):
            var fields = HTTPFields()
            if let digest { fields[.eTag] = EntityTag(digest: digest).text }
            throw Problem(
                .preconditionFailed, "changed",
                digest == nil
                    ? "no such plan is stored; send If-None-Match: * to store the first one"
                    : "the plan that is stored is another one; read it, and change that", headers: fields)
        case .full:
            throw Problem(
                .contentTooLarge, "too-large",
                "the plans of this list would be over \(StoreTransaction.maximumRotationBytes) bytes together")
        case nil:
            throw Problem(
                .init(integerLiteral: 422), "not-listed",
                "the list has no entry whose domain is \(rotation.host); a plan names the domain of an entry")
        }
    }

    /// Reads a plan, and expects it to be of this list and host.
    private static func plan(_ body: [UInt8], of name: String, host: HostName) throws(Problem) -> RotationPlan {
        let plan: RotationPlan
        do throws(RotationPlanError) { plan = try RotationPlan(json: body) } catch {
            throw Problem(
                error.code == .tooLarge ? .contentTooLarge : .badRequest, error.code.description,
                PrintableText.line(error.description, maximumLength: 512))
        }
        guard plan.list == name, plan.host == host else {
            throw Problem(
                .init(integerLiteral: 422), "other-plan",
                "this is the plan of \(plan.host) in \(PrintableText.line(plan.list, maximumLength: 128)), "
                    + "and the path says \(host) in \(name)")
        }
        return plan
    }

    /// The host of the path: a noted hostname in any written form.
    private static func host(_ context: ServiceContext) throws -> HostName {
        let text = try context.parameters.require("host")
        // An address stands in brackets, which a path has percent-encoded.
        guard text.utf8.count <= 512, let host = try? HostName(text.removingPercentEncoding ?? text) else {
            throw Problem(.badRequest, "host", "the path names no host")
        }
        return host
    }

    /// The condition of the request on the plan that it has seen. Tags are compared as lists' are: a digest names the
    /// bytes, in each form that a proxy gives it.
    private static func condition(_ fields: HTTPFields) throws(Problem) -> RotationCondition {
        if let field = fields[.ifMatch] {
            if field == "*" { return .present }
            guard let tags = EntityTag.tags(in: field) else {
                throw Problem(.badRequest, "if-match", "If-Match has no entity tag that can be read")
            }
            return .digests(Set(tags.map(\.digest)))
        }
        guard fields[.ifNoneMatch] == "*" else {
            throw Problem(
                .preconditionRequired, "precondition-required",
                "send If-Match with the ETag of the plan that this one replaces, or If-None-Match: * for a first one")
        }
        return .absent
    }

    /// The entry of the audit log in one line: the new state, by whom, and why, where the gate did not hold.
    private static func detail(_ plan: RotationPlan, of name: String, digest: String) -> String {
        let step = plan.lastStep
        let forced = step.forced.map { ", forced: \($0)" } ?? ""
        return PrintableText.line(
            "\(name): \(plan.host) \(step.state.rawValue) since \(step.at)\(forced), plan \(digest)",
            maximumLength: 2_048)
    }

    private static func summary(_ stored: StoredRotation) -> JSONValue {
        let plan = RotationOverview(stored).plan
        var members = [
            JSONValue.Member("host", .string(stored.host)), JSONValue.Member("digest", .string(stored.digest)),
            JSONValue.Member("storedAt", .string(stored.storedAt.description)),
        ]
        if let plan {
            members += [
                .init("state", .string(plan.state.rawValue)), .init("since", .string(plan.since.description)),
                .init("announceAt", .string(plan.announceAt.description)),
                .init("switchAt", .string(plan.switchAt.description)),
                .init("retireAt", .string(plan.retireAt.description)),
            ]
        }
        return .object(members)
    }

    private static var notPublished: Problem { Problem.notFound("no list is published under this name") }
}
