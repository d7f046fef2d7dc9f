// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import PinListStore

/// `GET /v1/reports?format=jsonl|csv&since=TIME&until=TIME`: what is kept, a page at a time.
struct ExportRoute: Sendable {
    let store: any ServiceStore
    let access: AdminAccess

    func respond(to request: Request) async throws -> Response {
        try await self.access.expectReader(request)
        let query = request.uri.queryParameters
        guard let format = ReportExport(rawValue: query["format"].map(String.init) ?? "jsonl") else {
            throw Problem(.badRequest, "format", "format is jsonl or csv")
        }
        let since = try Self.time(query["since"], default: .min)
        let until = try Self.time(query["until"], default: .max)
        let store = self.store
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(bytes: format.header))
            var last: Int64 = 0
            while true {
                let after = last
                let rows = try await store.read { store in
                    try store.exportRows(after: after, since: since, until: until, limit: ReportExport.page)
                }
                guard case .integer(let number)? = rows.last?.first else { break }
                last = number
                try await writer.write(ByteBuffer(bytes: rows.flatMap { format.line($0) }))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: format.contentType, .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"reports.\(format.rawValue)\"",
                .xContentTypeOptions: "nosniff",
            ], body: body)
    }

    private static func time(_ text: Substring?, default seconds: Int64) throws -> Timestamp {
        guard let text else { return Timestamp(secondsSince1970: seconds) }
        do { return try Timestamp(String(text)) } catch {
            throw Problem(.badRequest, "time", "since and until are times such as 2026-11-21T00:00:00Z")
        }
    }
}
