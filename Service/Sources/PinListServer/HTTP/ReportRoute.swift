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
        /// The networks that named keys of ``ServedLists/sightedKeys``.
        var sighted: NetworkCounter
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
        let sighted = NetworkCounter(at: clock.now, using: &random)
        self.limits = NIOLockedValueBox(
            Limits(
                limiter: SourceLimiter(limiter, seed: seed), networks: networks, sighted: sighted, random: random,
                bodies: BodyBudget(usual: self.bodyLimits.plainBytes)))
    }

    /// Shares what all sources together may send among so many instances of the service.
    func share(among instances: Int) { self.limits.withLockedValue { $0.limiter.share(among: instances) } }

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let address = self.address(request, context)
        do {
            let admission = try self.admission(of: address)
            let body = try await self.body(of: request, from: address, upTo: self.bodyLimits.bodyBytes)
            let field = self.attestation.names.isEmpty ? nil : request.headers[.tumblerAssertion]
            let read = try self.read(body, from: address, admission, isSigned: field != nil)
            let evaluation: AssertionEvaluator.Evaluation
            do {
                evaluation = try await self.attestation.evaluate(field, over: body, from: address, at: read.time)
            } catch { throw self.problem(of: error, read.collected.reports.count) }
            let taken = self.take(read, from: address, evaluation)
            try await self.examine(taken)
            do { try await self.intake.store(taken.reports) } catch {
                throw self.problem(of: error, taken.reports.count)
            }
            try self.count(taken)
            return Response(status: .accepted, headers: await self.fields(taken))
        } catch let problem as Problem {
            self.counters.refused(problem.code)
            throw problem
        }
    }

    /// Takes a body that is there, of a request without an assertion. It does the same as ``respond(to:_:)``, and needs no
    /// task where nothing is looked up.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - address: The address that it came from, as far as that can be believed.
    ///   - completion: The closure that gets the fields of the answer 202, `nil` for those that all have, or the problem:
    ///     on any thread, once.
    func take(
        _ body: [UInt8], from address: SourceAddress?,
        completion: @escaping @Sendable (Result<HTTPFields?, Problem>) -> Void
    ) {
        let refuse = { @Sendable (problem: Problem) in
            self.counters.refused(problem.code)
            completion(.failure(problem))
        }
        let taken: Taken
        do throws(Problem) {
            let admission = try self.admission(of: address)
            let read = try self.read(body, from: address, admission, isSigned: false)
            taken = self.take(read, from: address, .absent)
        } catch { return refuse(error) }
        let store: @Sendable () -> Void = {
            self.intake.store(taken.reports) { result in
                do throws(Problem) {
                    if case .failure(let error) = result { throw self.problem(of: error, taken.reports.count) }
                    try self.count(taken)
                } catch { return refuse(error) }
                guard taken.wantsFields else { return completion(.success(nil)) }
                Task { completion(.success(await self.fields(taken))) }
            }
        }
        guard taken.hasEnvelope else { return store() }
        Task {
            do throws(Problem) { try await self.examine(taken) } catch { return refuse(error) }
            store()
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

    /// The reports of a body that was read, and paid for.
    private struct Read {
        let collected: CollectedReports
        let time: Timestamp
        /// `Retry-After` where one report is kept as a sample, for the source is over a limit.
        let retryAfter: Int64?
    }

    /// The reports of a body that are stored.
    private struct Taken: Sendable {
        let reports: [AcceptedReport]
        let time: Timestamp
        let retryAfter: Int64?
        /// The number of entries about something else.
        let ignored: Int
        /// Whether a list asks for an assertion of it.
        let isAsked: Bool
        /// Whether its assertion names a key that is not registered.
        let isUnknownKey: Bool

        /// Whether an envelope is to be looked at before anything is stored.
        var hasEnvelope: Bool { self.reports.contains { $0.report.envelope != nil } }

        /// Whether the answer has header fields of its own.
        var wantsFields: Bool { self.isAsked || self.isUnknownKey }
    }

    private static let noFields: HTTPFields = [.contentLength: "0"]

    /// The admission of a source: a token for its body; `nil` for a source without a known address.
    private func admission(of address: SourceAddress?) throws(Problem) -> SourceLimiter.Answer? {
        let answer = address.map { address in self.evaluated { $0.evaluate(address, at: $1) } }
        try self.expectTaken(answer)
        return answer
    }

    /// Reads a body, and charges it.
    private func read(
        _ body: [UInt8], from address: SourceAddress?, _ admission: SourceLimiter.Answer?, isSigned: Bool
    ) throws(Problem) -> Read {
        let reading = ReportCost.reading(body.count)
        var answer = try self.charged(reading - 1, address, admission)
        let now = self.clock.now
        let collected: CollectedReports
        do throws(ReportError) {
            collected = try CollectedReport.read(
                body, at: now, limits: self.bodyLimits, entry: { self.lists.entryDomain(of: $0) })
        } catch {
            throw Problem(.init(integerLiteral: error.code.status), error.code.description, error.detail)
        }
        // A signature is verified, and a key looked up: as much work as a report.
        answer = try self.charged(
            ReportCost.all(of: collected, bytes: body.count) - reading + (isSigned ? 1 : 0), address, answer)
        var retryAfter: Int64?
        if case .sample(let seconds)? = answer { retryAfter = seconds }
        return Read(collected: collected, time: now, retryAfter: retryAfter)
    }

    /// Groups the reports of a body, and counts their networks.
    private func take(_ read: Read, from address: SourceAddress?, _ evaluation: AssertionEvaluator.Evaluation) -> Taken
    {
        // Of what is over a limit one report is kept, however many an array holds.
        let kept = read.collected.reports.prefix(read.retryAfter == nil ? read.collected.reports.count : 1)
        let accepted = kept.map { report in
            let asking = self.lists.nameAsking(for: report, among: self.attestation.names)
            let attestation = AssertionEvaluator.attestation(asking, evaluation)
            let group = ReportGroup(report, attestation.state)
            let isListed = self.lists.isListed(report)
            return AcceptedReport(
                report: report, group: group, receivedAt: read.time,
                networks: self.count(address, group, isListed, read.time),
                sightedNetworks: self.countSighted(address, report, read.time),
                isSample: read.retryAfter != nil, isListed: isListed, publishedName: self.lists.publishedName(report),
                attestation: attestation, mayBeKept: self.keeping(report, of: address), body: report.document)
        }
        var isUnknownKey = false
        if case .refused(_, true) = evaluation { isUnknownKey = true }
        return Taken(
            reports: accepted, time: read.time, retryAfter: read.retryAfter, ignored: read.collected.ignored,
            isAsked: accepted.contains { $0.attestation.state != .notAsked }, isUnknownKey: isUnknownKey)
    }

    /// Counts stored reports.
    ///
    /// - Throws: ``Problem`` of status 429 where one was kept as a sample.
    private func count(_ taken: Taken) throws(Problem) {
        for report in taken.reports { self.counters.accepted(report) }
        self.counters.ignored(taken.ignored)
        if let retryAfter = taken.retryAfter { throw self.tooMany(retryAfter) }
    }

    /// Reads the envelopes of incidents, before anything is stored: what comes again after a failure is counted once, and
    /// its evidence is kept once. Where the failure will not pass, the report is worth more than another attempt.
    ///
    /// - Throws: ``Problem`` of status 503, so that the sender comes again.
    private func examine(_ taken: Taken) async throws(Problem) {
        for report in taken.reports {
            do { try await self.equivocation.look(at: report.report, taken.time) } catch {
                self.counters.unexamined()
                guard (error as? StoreError)?.isLasting == true else {
                    throw self.problem(of: error, taken.reports.count)
                }
            }
        }
    }

    /// The header fields of the answer 202. Where attestation is asked for they have the next challenge, so that no second
    /// request is needed for it.
    private func fields(_ taken: Taken) async -> HTTPFields {
        var fields = Self.noFields
        guard taken.wantsFields else { return fields }
        if taken.isUnknownKey { fields[.tumblerAttestation] = "unknown-key" }
        if let challenge = try? await self.attestation.challenges.make(at: self.clock.now) {
            fields[.tumblerChallenge] = Base64.encode(challenge.bytes)
        }
        return fields
    }

    /// The further cost of a body beyond what was charged, if it is not over a limit already.
    private func charged(
        _ tokens: Int, _ address: SourceAddress?, _ answer: SourceLimiter.Answer?
    ) throws(Problem) -> SourceLimiter.Answer? {
        guard let address, case .allow(let admission)? = answer else { return answer }
        let charged = self.evaluated { $0.charge(tokens, address, admission, at: $1) }
        try self.expectTaken(charged)
        return charged
    }

    /// The closure that says whether the document of a report is kept: asked when there is room for it in its group.
    private func keeping(_ report: CollectedReport, of address: SourceAddress?) -> @Sendable () -> Bool {
        guard let address else { return { true } }
        return { self.evaluated { $0.keeps(report.documentBytes, of: address, at: $1) } }
    }

    private func evaluated<Answer>(_ evaluate: (inout SourceLimiter, Int64) -> Answer) -> Answer {
        let nanoseconds = Int64(exactly: (self.clock.uptime * 1e9).rounded()) ?? 0
        return self.limits.withLockedValue { evaluate(&$0.limiter, nanoseconds) }
    }

    private func expectTaken(_ answer: SourceLimiter.Answer?) throws(Problem) {
        if case .refuse(let retryAfter)? = answer { throw self.tooMany(retryAfter) }
    }

    /// The problem of reports that were not examined, or not stored.
    private func problem(of error: any Error, _ count: Int) -> Problem {
        if let congestion = error as? ReportIntake.CongestionError {
            return Problem(
                .serviceUnavailable, "congested", "more reports wait than can be stored",
                headers: [.retryAfter: self.retryTime(congestion.line)])
        }
        var problem =
            error is EquivocationWatch.CongestionError
            ? Problem(.serviceUnavailable, "congested", "more incidents come than can be looked at")
            : Problem.unavailable(error)
        let line = self.intake.turnAway(count, minimum: Problem.unavailableSeconds)
        problem.headers[.retryAfter] = self.retryTime(line)
        return problem
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

    private func countSighted(
        _ address: SourceAddress?, _ report: CollectedReport, _ now: Timestamp
    ) -> NetworkCounter.Count? {
        let keys = self.lists.sightedKeys
        guard !keys.isEmpty, let address, let key = report.leaf?.pin.description, keys.contains(key) else { return nil }
        return self.limits.withLockedValue { limits in
            limits.sighted.count(address, naming: key, at: now, using: &limits.random)
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
