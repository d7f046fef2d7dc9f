// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOHTTP1

/// Answers every error as a problem, and never with a page of the framework's: unknown paths with 404, known ones with
/// an unknown method with 405.
struct ProblemResponder: HTTPResponder {
    typealias Context = ServiceContext

    private let next: any HTTPResponder<ServiceContext>
    private let paths: KnownPaths
    private let page: (@Sendable () -> Response)?

    /// Answers with what a router leads to.
    ///
    /// - Parameters:
    ///   - router: The router.
    ///   - page: The page for a browser that asks for what is not there; `nil` where there is no dashboard.
    init(_ router: Router<ServiceContext>, page: (@Sendable () -> Response)? = nil) {
        self.page = page
        self.next = router.buildResponder()
        self.paths = KnownPaths(router)
    }

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let methods = self.paths.methods(of: request.uri.path)
        guard !methods.isEmpty else {
            if let page, Self.isOfBrowser(request) { return page() }
            return Problem.notFound("nothing has this address; GET /v1/openapi.json lists the addresses").response
        }
        guard methods.contains(request.method.rawValue) else {
            let allowed = methods.joined(separator: ", ")
            return Problem(
                .methodNotAllowed, "method", "this is for \(allowed)", headers: [.allow: allowed]
            ).response
        }
        do { return try await self.next.respond(to: request, context: context) } catch let problem as Problem {
            return problem.response
        } catch let error as HTTPError {
            return Problem(error.status, "http", error.body ?? error.status.reasonPhrase).response
        } catch let error where !(error is HTTPParserError || error is CancellationError) {
            let path = PrintableText.line(request.uri.path, maximumLength: 256)
            context.logger.error(
                "\(request.method) \(path) failed: \(PrintableText.line("\(error)", maximumLength: 512))")
            return Problem(
                .internalServerError, "internal",
                "the service made a mistake, and whether it did what was asked is not known; its log has the error"
            ).response
        }
    }

    /// Whether a person looks: outside of the interface of programs, and by a program that shows HTML.
    private static func isOfBrowser(_ request: Request) -> Bool {
        guard request.method == .get || request.method == .head, !request.uri.path.hasPrefix("/v1") else {
            return false
        }
        return request.headers[.accept]?.contains("text/html") == true
    }
}

/// Answers questions about lists that came behind other requests, or to the operator's own listener; what it does not know
/// it hands on.
///
/// The others ``ListChannelHandler`` has answered before.
struct PublicResponder: HTTPResponder {
    typealias Context = ServiceContext

    let lists: ListResponder
    let next: any HTTPResponder<ServiceContext>

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
        if let answer = self.lists.answer(to: request.head, from: context.peer) { return answer.response }
        return try await self.next.respond(to: request, context: context)
    }
}
