// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PinListStore
internal import PinReportAnalysis

/// `POST /v1/reports`: a failure report, a list incident, or an array of the Reporting API.
final class ReportRoute: Sendable {
    private struct Limits {
        var limiter: SourceLimiter
        var networks: NetworkCounter
        var random: any RandomNumberGenerator & Sendable
        var bodies: BodyBudget
    }

    private let intake: ReportIntake
    private let counters: ReportCounters
    private let source: RequestSource
    private let clock: any ServiceClock
    private let lists: ServedLists
    private let equivocation: EquivocationWatch
    private let attestation: AssertionEvaluator
    private let limits: NIOLockedValueBox<Limits>
    private let bodyLimits = ReportBodyLimits()

    /// A route.
    ///
    /// - Parameter limiter: The limiter of sources.
    init(
        intake: ReportIntake, counters: ReportCounters, source: RequestSource, clock: any ServiceClock,
        lists: ServedLists, equivocation: EquivocationWatch, attestation: AssertionEvaluator,
        limiter: SourceLimiter.Limits, random: any RandomNumberGenerator & Sendable
    ) {
        var random = random
        self.intake = intake
        self.counters = counters
        self.source = source
        self.clock = clock
        self.lists = lists
        self.equivocation = equivocation
        self.attestation = attestation
        let seed = random.next()
        let networks = NetworkCounter(at: clock.now, using: &random)
        self.limits = NIOLockedValueBox(
            Limits(
                limiter: SourceLimiter(limiter, seed: seed), networks: networks, random: random,
                bodies: BodyBudget(usual: self.bodyLimits.plainBytes)))
    }

    /// Shares what all sources together may send among so many instances of the service.
    func share(among instances: Int) { self.limits.withLockedValue { $0.limiter.share(among: instances) } }

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        do {
            let taken = try await self.take(request, context)
            var fields = await self.attestationFields(taken)
            guard let retryAfter = taken.retryAfter else {
                fields[.contentLength] = "0"
                return Response(status: .accepted, headers: fields)
            }
            throw self.tooMany(retryAfter)
        } catch let problem as Problem {
            self.counters.refused(problem.code)
            throw problem
        }
    }

    /// Admits a request of another kind that is limited as reports are, and charges it.
    ///
    /// - Throws: ``Problem`` of status 429 for what is over a limit.
    func admit(_ request: Request, _ context: ServiceContext, tokens: Int) throws {
        guard let address = self.address(request, context) else { return }
        let answer = self.evaluated { $0.evaluate(address, at: $1) }
        try self.expectTaken(answer)
        if case .sample(let retryAfter) = answer { throw self.tooMany(retryAfter) }
        _ = try self.charged(tokens - 1, address, answer)
    }

    /// The body of such a request, while there is room for it.
    func body(of request: Request, _ context: ServiceContext, upTo limit: Int) async throws -> [UInt8] {
        try await self.body(of: request, from: self.address(request, context), upTo: limit)
    }

    private func address(_ request: Request, _ context: ServiceContext) -> SourceAddress? {
        self.source.address(request.headers, peer: context.peer).flatMap { SourceAddress(bytes: $0.bytes) }
    }

    /// The result of storing the reports of a body.
    private struct Taken {
        /// `Retry-After` for one of which a sample is kept, for it is over the limit.
        var retryAfter: Int64?
        /// Whether a list asks for an assertion of it.
        var isAsked = false
        /// Whether its assertion names a key that is not registered.
        var isUnknownKey = false
    }

    /// The header fields of an answer on attestation: the next challenge, so that no second request is needed for it.
    private func attestationFields(_ taken: Taken) async -> HTTPFields {
        var fields: HTTPFields = [:]
        guard taken.isAsked || taken.isUnknownKey else { return fields }
        if taken.isUnknownKey { fields[.tumblerAttestation] = "unknown-key" }
        if let challenge = try? await self.attestation.challenges.make(at: self.clock.now) {
            fields[.tumblerChallenge] = Base64.encode(challenge.bytes)
        }
        return fields
    }

    /// Takes a body.
    private func take(_ request: Request, _ context: ServiceContext) async throws -> Taken {
        let address = self.address(request, context)
        var answer = address.map { address in self.evaluated { $0.evaluate(address, at: $1) } }
        try self.expectTaken(answer)
        let body = try await self.body(of: request, from: address, upTo: self.bodyLimits.bodyBytes)
        let reading = ReportCost.reading(body.count)
        answer = try self.charged(reading - 1, address, answer)
        let now = self.clock.now
        let collected: CollectedReports
        do throws(ReportError) {
            collected = try CollectedReport.read(
                body, at: now, limits: self.bodyLimits, entry: { self.lists.entryDomain(of: $0) })
        } catch {
            throw Problem(.init(integerLiteral: error.code.status), error.code.description, error.detail)
        }
        let field = self.attestation.names.isEmpty ? nil : request.headers[.tumblerAssertion]
        // A signature is verified, and a key looked up: as much work as a report.
        let signed = field == nil ? 0 : 1
        answer = try self.charged(
            ReportCost.all(of: collected, bytes: body.count) - reading + signed, address, answer)
        var taken = Taken()
        if case .sample(let seconds)? = answer { taken.retryAfter = seconds }
        let evaluation = await self.attestation.evaluate(field, over: body, from: address, at: now)
        if case .refused(_, true) = evaluation { taken.isUnknownKey = true }
        // Of what is over a limit one report is kept, however many an array holds.
        let kept = collected.reports.prefix(taken.retryAfter == nil ? collected.reports.count : 1)
        let accepted = kept.map { report in
            let asking = self.lists.nameAsking(for: report, among: self.attestation.names)
            let attestation = AssertionEvaluator.attestation(asking, evaluation)
            let group = ReportGroup(report, attestation.state)
            let isListed = self.lists.isListed(report)
            return AcceptedReport(
                report: report, group: group, receivedAt: now, networks: self.count(address, group, isListed, now),
                isSample: taken.retryAfter != nil, isListed: isListed, publishedName: self.lists.publishedName(report),
                attestation: attestation,
                body: report.document)
        }
        taken.isAsked = accepted.contains { $0.attestation.state != .notAsked }
        try await self.store(accepted)
        for report in accepted {
            self.counters.accepted(report)
            if await !self.equivocation.look(at: report.report, now) { self.counters.unexamined() }
        }
        self.counters.ignored(collected.ignored)
        return taken
    }

    /// The further cost of a body beyond what was charged, if it is not over a limit already.
    private func charged(
        _ tokens: Int, _ address: SourceAddress?, _ answer: SourceLimiter.Answer?
    ) throws -> SourceLimiter.Answer? {
        guard let address, case .allow(let admission)? = answer else { return answer }
        let charged = self.evaluated { $0.charge(tokens, address, admission, at: $1) }
        try self.expectTaken(charged)
        return charged
    }

    private func evaluated(_ evaluate: (inout SourceLimiter, Int64) -> SourceLimiter.Answer) -> SourceLimiter.Answer {
        let nanoseconds = Int64(exactly: (self.clock.uptime * 1e9).rounded()) ?? 0
        return self.limits.withLockedValue { evaluate(&$0.limiter, nanoseconds) }
    }

    private func expectTaken(_ answer: SourceLimiter.Answer?) throws {
        if case .refuse(let retryAfter)? = answer { throw self.tooMany(retryAfter) }
    }

    private func store(_ accepted: [AcceptedReport]) async throws {
        do { try await self.intake.store(accepted) } catch let congestion as ReportIntake.CongestionError {
            throw Problem(
                .serviceUnavailable, "congested", "more reports wait than can be stored",
                headers: [.retryAfter: self.retryTime(congestion.line)])
        } catch {
            var problem = Problem.unavailable(error)
            let line = await self.intake.turnAway(accepted.count, minimum: Problem.unavailableSeconds)
            problem.headers[.retryAfter] = self.retryTime(line)
            throw problem
        }
    }

    /// The body, while there is room for it.
    private func body(of request: Request, from source: SourceAddress?, upTo limit: Int) async throws -> [UInt8] {
        var body = BodyBudget.Body(from: source)
        defer { self.limits.withLockedValue { $0.bodies.end(body) } }
        return try await request.body(upTo: limit) { count in
            let line = self.limits.withLockedValue { limits in
                limits.bodies.take(count, for: &body) ? nil : limits.bodies.turnAway(body)
            }
            guard let line else { return }
            throw Problem(
                .serviceUnavailable, "congested", "too many reports come at once",
                headers: [.retryAfter: self.retryTime(line), .connection: "close"])
        }
    }

    private func count(
        _ address: SourceAddress?, _ group: ReportGroup, _ isListed: Bool, _ now: Timestamp
    ) -> NetworkCounter.Count? {
        guard let address else { return nil }
        return self.limits.withLockedValue { limits in
            limits.networks.count(address, in: group, isListed: isListed, at: now, using: &limits.random)
        }
    }

    /// The value of `Retry-After` for a line.
    private func retryTime(_ line: Int64) -> String {
        "\(self.limits.withLockedValue { RetryTime.seconds(line, using: &$0.random) })"
    }

    private func tooMany(_ line: Int64) -> Problem {
        Problem(
            .tooManyRequests, "too-many", "too many reports from here; one in a while is enough",
            headers: [.retryAfter: self.retryTime(line)])
    }
}
