// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `PUT /v1/lists/{name}/logs/{sha256}.json`: uploads a log list of Certificate Transparency, before the list that names
/// it. It is read as a client will, and served as it is.
struct LogsRoute: Sendable {
    /// The action in the audit log.
    static let action = "logs"

    let parts: ServiceParts
    let access: AdminAccess

    func write(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        // Before the body: a client without the right to do so sends no megabytes.
        let actor = try await self.access.expectPublisher(of: name, request)
        let digest = try Self.digest(context)
        let body = try await request.body(upTo: LogList.maximumLength)
        guard self.parts.lists.isConfigured(name) else {
            throw Problem(
                .init(integerLiteral: 422), "name-not-configured", "no root is configured for \(name)")
        }
        guard Envelope.digest(of: body) == digest else {
            throw Problem(
                .init(integerLiteral: 422), "wrong-digest", "the body is not the file whose SHA-256 is in the path")
        }
        do throws(LogListError) { _ = try LogList(body) } catch {
            throw Problem(
                .init(integerLiteral: 422), "malformed",
                "clients could not read this log list: \(PrintableText.line(error.reason, maximumLength: 512))")
        }
        let now = self.parts.clock.now
        let logs = StoredLogs(name: name, storedAt: now, bytes: body)
        let isNew: Bool
        do {
            isNew = try await self.parts.store.write(as: .publications) { store in
                guard try store.add(logs) else { return false }
                try AuditQuota.expectRoom(for: Self.action, by: actor, in: store, at: now)
                try store.log(Self.action, "\(name): \(digest), \(body.count) bytes", by: actor, at: now)
                return true
            }
        } catch let problem as Problem { throw problem } catch { throw Problem.unavailable(error) }
        // A stored log list is served, whether by this instance at once or after its next look.
        _ = try? await self.parts.lists.reload(from: self.parts.store)
        return Response(
            status: isNew ? .created : .ok,
            headers: [.eTag: EntityTag(digest: digest).text, .contentLength: "0", .cacheControl: "no-store"])
    }

    /// The digest of the path's last part.
    private static func digest(_ context: ServiceContext) throws -> String {
        let file = try context.parameters.require("file")
        let digest = file.hasSuffix(".json") ? String(file.dropLast(5)) : ""
        guard ListedLogs.isDigest(digest) else {
            throw Problem(
                .badRequest, "digest", "the path ends with the SHA-256 of the file in lower-case hex and .json")
        }
        return digest
    }
}
