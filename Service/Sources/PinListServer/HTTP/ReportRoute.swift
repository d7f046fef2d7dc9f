// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import NIOCore

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
    private let limits: NIOLockedValueBox<Limits>
    private let bodyLimits = ReportBodyLimits()

    /// A route.
    ///
    /// - Parameter limiter: What sources may send.
    init(
        intake: ReportIntake, counters: ReportCounters, source: RequestSource, clock: any ServiceClock,
        lists: ServedLists, equivocation: EquivocationWatch, limiter: SourceLimiter.Limits,
        random: any RandomNumberGenerator & Sendable
    ) {
        var random = random
        self.intake = intake
        self.counters = counters
        self.source = source
        self.clock = clock
        self.lists = lists
        self.equivocation = equivocation
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
            let isSample = try await self.take(request, context)
            guard let retryAfter = isSample else { return Response(status: .accepted, headers: [.contentLength: "0"]) }
            throw Self.tooMany(retryAfter)
        } catch let problem as Problem {
            self.counters.refused(problem.code)
            throw problem
        }
    }

    /// Takes a report.
    ///
    /// - Returns: `Retry-After` for one that is kept as a sample of what is over the limit.
    private func take(_ request: Request, _ context: ServiceContext) async throws -> Int64? {
        let address = self.source.address(request.headers, peer: context.peer).flatMap {
            SourceAddress(bytes: $0.bytes)
        }
        let answer = address.map { address in
            let nanoseconds = Int64(exactly: (self.clock.uptime * 1e9).rounded()) ?? 0
            return self.limits.withLockedValue { $0.limiter.judge(address, at: nanoseconds) }
        }
        if case .refuse(let retryAfter)? = answer { throw Self.tooMany(retryAfter) }
        let body = try await self.body(of: request, from: address)
        let now = self.clock.now
        let collected: CollectedReports
        do throws(ReportDefect) { collected = try CollectedReport.read(body, at: now, limits: self.bodyLimits) } catch {
            throw Problem(.init(integerLiteral: error.code.status), error.code.description, error.detail)
        }
        var retryAfter: Int64?
        if case .sample(let seconds)? = answer { retryAfter = seconds }
        let accepted = collected.reports.map { report in
            let group = ReportGroup(report)
            return AcceptedReport(
                report: report, group: group, receivedAt: now, networks: self.count(address, group, now),
                isSample: retryAfter != nil, isListed: self.lists.isListed(report), body: report.document)
        }
        do { try await self.intake.store(accepted) } catch is ReportIntake.Congestion {
            throw Problem(
                .serviceUnavailable, "congested", "more reports wait than can be stored", headers: [.retryAfter: "60"])
        } catch { throw Problem.unavailable(error) }
        for report in accepted {
            self.counters.accepted(report)
            if await !self.equivocation.look(at: report.report, now) { self.counters.unexamined() }
        }
        self.counters.ignored(collected.ignored)
        return retryAfter
    }

    /// The body, while there is room for it.
    private func body(of request: Request, from source: SourceAddress?) async throws -> [UInt8] {
        var body = BodyBudget.Body(from: source)
        defer { self.limits.withLockedValue { $0.bodies.end(body) } }
        return try await request.body(upTo: self.bodyLimits.bodyBytes) { count in
            guard self.limits.withLockedValue({ $0.bodies.take(count, for: &body) }) else {
                throw Problem(
                    .serviceUnavailable, "congested", "too many reports come at once",
                    headers: [.retryAfter: "60", .connection: "close"])
            }
        }
    }

    private func count(_ address: SourceAddress?, _ group: ReportGroup, _ now: Timestamp) -> NetworkCounter.Count? {
        guard let address else { return nil }
        return self.limits.withLockedValue { limits in
            limits.networks.count(address, in: group.id, at: now, using: &limits.random)
        }
    }

    private static func tooMany(_ retryAfter: Int64) -> Problem {
        Problem(
            .tooManyRequests, "too-many", "too many reports from here; one in a while is enough",
            headers: [.retryAfter: "\(retryAfter)"])
    }
}
