// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Hummingbird

/// What a page is made from: the request, and the state of everything.
struct DashboardRequest: Sendable {
    /// There is no such thing.
    struct NotFound: Error {}

    let request: Request
    let parts: ServiceParts
    let overview: Overview
    /// The list that the page is about.
    let name: NameOverview?
    /// The part of the path that names something.
    let id: String?

    init(_ request: Request, _ context: ServiceContext, _ parts: ServiceParts) async throws {
        self.request = request
        self.parts = parts
        self.overview = try await parts.overview()
        let asked = request.uri.queryParameters[Substring(PageFrame.nameMember)].map(String.init)
        self.name = self.overview.names.first { $0.name == asked } ?? self.overview.names.first
        self.id = context.parameters.get("id")
    }

    /// The members of the query, decoded.
    var query: [(name: String, value: String)] {
        self.request.uri.queryParameters.map { (String($0.key), String($0.value)) }
    }

    /// A member of the query.
    func member(_ name: String) -> String? { self.request.uri.queryParameters[Substring(name)].map(String.init) }
}
