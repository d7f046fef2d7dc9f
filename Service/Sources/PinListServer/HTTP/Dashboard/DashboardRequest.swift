// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinReportAnalysis

/// The input of a page: the request, and the state of everything.
struct DashboardRequest: Sendable {
    /// The request names a thing that does not exist.
    struct NotFoundError: Error {}

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

/// Keeps pages of strangers from posting our forms: where the browser says that they come from, and a token that only
/// our pages hold.
struct FormGuard: Sendable {
    /// Random, for those who are not logged in: where ``ServiceConfiguration/isOpen`` says so.
    let key: [UInt8]

    /// The token of a form against cross-site requests. Derived from the login, so that every instance of the service
    /// knows it.
    func token(for request: Request) -> String {
        let secret = request.cookies[AdminAccess.cookie].map { Array($0.value.utf8) } ?? self.key
        return Hexadecimal.text(of: SHA256.hash(data: Array("tumbler form ".utf8) + secret))
    }

    /// Refuses a form that is not ours.
    ///
    /// - Throws: ``Problem``.
    func check(_ form: [String: String], _ request: Request) throws {
        guard AdminAccess.isOfThisSite(request) != false, form[PageFrame.tokenField] == self.token(for: request) else {
            throw Problem(.forbidden, "foreign-form", "this form came from another site, or its page is old; reload it")
        }
    }
}
