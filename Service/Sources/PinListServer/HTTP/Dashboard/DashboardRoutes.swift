// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PinListStore
internal import PinReportAnalysis

/// The routes of the pages.
struct DashboardRoutes: Sendable {
    let dashboard: Dashboard
    let parts: ServiceParts
    let access: AdminAccess
    let forms: FormGuard
    /// Random bytes, too many to guess.
    let random: @Sendable (Int) -> [UInt8]

    /// The maximum number of bytes of a form: a key, a reason and a token.
    static let maximumFormBytes = 8_192

    /// Adds all of them.
    func add(to router: Router<ServiceContext>) {
        for asset in Dashboard.assets {
            router.get(RouterPath(asset.path)) { _, _ in
                var response = Response.bytes(asset.bytes, asset.contentType)
                response.headers[.cacheControl] = DashboardAsset.cacheControl
                response.headers[.xContentTypeOptions] = "nosniff"
                return response
            }
        }
        self.page("/", router) { try await DashboardPages.now($0) }
        self.page("/adoption", router) { try await DashboardPages.adoption($0) }
        self.page("/hosts", router) { try await DashboardPages.hosts($0) }
        self.page("/certificates", router) { try await DashboardPages.certificates($0) }
        self.page("/rotations", router) { try await DashboardPages.rotations($0) }
        self.page("/lists", router) { try await DashboardPages.lists($0) }
        self.page("/audit", router) { try await DashboardPages.audit($0) }
        self.page("/failures", router) { try await DashboardPages.failures($0) }
        self.page("/failures/:id", router) { try await DashboardPages.failure($0) }
        self.page("/alarms", router) { request in
            try await DashboardPages.alarms(
                request, token: self.forms.token(for: request.request),
                mayOperate: try await self.access.isOperator(request.request))
        }
        self.page("/runbook/:id", router) { request in
            guard let kind = request.id.flatMap(Alarm.Kind.init), kind != .test else {
                throw DashboardRequest.NotFoundError()
            }
            return RunbookPage(kind: kind)
        }
        router.get("/login") { request, _ in self.askToLogIn(request) }
        router.post("/login") { request, _ in try await self.logIn(request) }
        router.post("/logout") { request, _ in try await self.logOut(request) }
        self.addAlarmForms(to: router)
    }

    /// A page that needs a reader.
    private func page(
        _ path: RouterPath, _ router: Router<ServiceContext>,
        _ build: @escaping @Sendable (DashboardRequest) async throws -> any DashboardPage
    ) {
        router.get(path) { request, context in
            do { try await self.access.expectReader(request) } catch let problem as Problem {
                guard problem.status == .unauthorized else { throw problem }
                return Self.redirect(to: "/login?next=" + DashboardLink.encode(request.uri.path))
            }
            do {
                let asked = try await DashboardRequest(request, context, self.parts)
                return self.answer(try await build(asked), .ok, in: self.frame(asked))
            } catch is DashboardRequest.NotFoundError {
                return self.answer(ErrorPage(status: 404, detail: ""), .notFound)
            } catch let error as StoreError {
                return self.answer(ErrorPage(status: 503, detail: error.detail), .serviceUnavailable)
            }
        }
    }

    private func frame(_ asked: DashboardRequest) -> PageFrame {
        PageFrame(
            names: asked.overview.names.map(\.name), name: asked.name?.name, time: asked.overview.time,
            firing: asked.overview.alarms.count,
            logoutToken: asked.request.cookies[AdminAccess.cookie] == nil ? nil : self.forms.token(for: asked.request))
    }

    /// A page as an answer.
    func answer(
        _ page: some DashboardPage, _ status: HTTPResponse.Status, in frame: PageFrame? = nil
    ) -> Response {
        let frame = frame ?? PageFrame(names: [], name: nil, time: self.parts.clock.now)
        var response = Response.bytes(
            self.dashboard.render(page, in: frame), "text/html; charset=utf-8", status: status)
        for (name, value) in Dashboard.securityHeaders {
            guard let name = HTTPField.Name(name) else { continue }
            response.headers[name] = value
        }
        return response
    }

    // MARK: Forms

    /// The form for a token; or, of a log-in link, a page with one button. A link is not used by being fetched: programs
    /// that show a preview of it, or look for malware behind it, fetch it as well.
    private func askToLogIn(_ request: Request) -> Response {
        let code = request.uri.queryParameters[Substring(LoginPage.codeField)].map(String.init)
        guard let code else {
            return self.answer(LoginPage(wasRefused: false, next: Self.next(request.uri.queryParameters["next"])), .ok)
        }
        guard LoginCode.isCode(code) else {
            return self.answer(LoginPage(wasRefused: false, next: "/", isLinkOver: true), .badRequest)
        }
        return self.answer(LoginPage(wasRefused: false, next: "/", code: code), .ok)
    }

    private func logIn(byCode code: String, _ request: Request) async throws -> Response {
        let (random, now) = (self.random(AccessToken.randomBytes), self.parts.clock.now)
        var secret: String?
        do {
            // Looked up first: a guess by a stranger causes no write transaction.
            if try await self.parts.store.read(for: .stranger, { try $0.loginCode(code, at: now) }) != nil {
                secret = try await self.parts.store.write { store in
                    try store.logIn(byCode: code, lasting: AdminAccess.cookieSeconds, random: random, at: now)
                }
            }
        } catch { throw Problem.unavailable(error) }
        guard let secret else {
            return self.answer(LoginPage(wasRefused: false, next: "/", isLinkOver: true), .unauthorized)
        }
        return self.loggedIn(secret, request, next: "/")
    }

    private func loggedIn(_ secret: String, _ request: Request, next: String) -> Response {
        var response = Self.redirect(to: next)
        response.headers[.referrerPolicy] = "no-referrer"
        response.setCookie(self.cookie(secret, lasting: AdminAccess.cookieSeconds, request))
        return response
    }

    private func logIn(_ request: Request) async throws -> Response {
        guard AdminAccess.isOfThisSite(request) != false else { throw Self.foreign }
        let form = try await self.form(request)
        if let code = form[LoginPage.codeField] { return try await self.logIn(byCode: code, request) }
        let next = Self.next(form[LoginPage.nextField].map { Substring($0) })
        let secret = form[LoginPage.tokenField]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard try await self.access.isReader(secret) else {
            return self.answer(LoginPage(wasRefused: true, next: next), .unauthorized)
        }
        return self.loggedIn(secret, request, next: next)
    }

    private func logOut(_ request: Request) async throws -> Response {
        try self.forms.check(try await self.form(request), request)
        if let secret = request.cookies[AdminAccess.cookie]?.value, let token = try await self.access.token(secret) {
            let now = self.parts.clock.now
            do { try await self.parts.store.write { try $0.logOut(token, at: now) } } catch {
                throw Problem.unavailable(error)
            }
        }
        var response = Self.redirect(to: LoginPage.path)
        response.setCookie(self.cookie("", lasting: 0, request))
        return response
    }

    /// Over plain HTTP to a loopback name a browser takes no `Secure` cookie; anywhere else nothing but one.
    private func cookie(_ value: String, lasting seconds: Int, _ request: Request) -> Cookie {
        let isLoopback = LoopbackName.isLoopback(authority: request.head.authority ?? "")
        return Cookie(
            name: AdminAccess.cookie, value: value, maxAge: seconds, path: "/", secure: !isLoopback, httpOnly: true,
            sameSite: .strict)
    }

    /// The fields of a form.
    func form(_ request: Request) async throws -> [String: String] {
        FormBody(try await request.body(upTo: Self.maximumFormBytes)).fields
    }

    /// A path of ours to go on with; anything else leads to the first page.
    private static func next(_ path: Substring?) -> String {
        guard let path = path.map({ String($0).removingPercentEncoding ?? "" }), path.hasPrefix("/"),
            !path.hasPrefix("//"), path.utf8.count <= 512,
            path.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return path
    }

    /// Leads a browser to a page of ours.
    static func redirect(to path: String) -> Response {
        Response(
            status: .seeOther, headers: [.location: path, .cacheControl: "no-store", .contentLength: "0"])
    }

    private static var foreign: Problem {
        Problem(.forbidden, "foreign-form", "this form came from another site; open the page itself")
    }
}
