// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore

/// The forms of the page Alarms. Each leads back to it.
extension DashboardRoutes {
    /// Adds them.
    func addAlarmForms(to router: Router<ServiceContext>) {
        router.post(RouterPath(AlarmsPage.testPath)) { request, _ in try await self.testAlarm(request) }
        router.post(RouterPath(AlarmsPage.acknowledgePath)) { request, _ in
            try await self.handle(request) { key, _, store, actor, now in
                try AlarmHandling.acknowledge(key, in: store, by: actor, at: now)
            }
        }
        router.post(RouterPath(AlarmsPage.silencePath)) { request, _ in
            try await self.handle(request) { key, form, store, actor, now in
                let reason = PrintableText.line(
                    form[AlarmsPage.reasonField] ?? "", maximumLength: AlarmHandling.maximumReasonLength)
                // A form that no browser sends from our page is refused.
                guard let hours = form[AlarmsPage.hoursField].flatMap({ Int64($0) }), !reason.isEmpty,
                    (1...AlarmHandling.maximumSilence / 3_600).contains(hours)
                else { return false }
                return try AlarmHandling.silence(
                    key, for: hours * 3_600, because: reason, upTo: nil, in: store, by: actor, at: now) != nil
            }
        }
        router.post(RouterPath(AlarmsPage.unsilencePath)) { request, _ in
            try await self.handle(request) { key, _, store, actor, now in
                try AlarmHandling.unsilence(key, in: store, by: actor, at: now)
            }
        }
    }

    /// Does what a form of an operator asks.
    ///
    /// - Parameter change: Gets the key, the form, the store, the id of the token and the time; `false` when there is
    ///   nothing to do it to.
    private func handle(
        _ request: Request,
        _ change: @escaping @Sendable (String, [String: String], StoreTransaction, String, Timestamp) throws -> Bool
    ) async throws -> Response {
        let actor = try await self.access.expectOperator(request)
        let form = try await self.form(request)
        try self.forms.check(form, request)
        let (key, now) = (form[AlarmsPage.keyField] ?? "", self.parts.clock.now)
        let isDone: Bool
        do {
            isDone = try await self.parts.store.write { try change(key, form, $0, actor, now) }
        } catch let problem as Problem { throw problem } catch { throw Problem.unavailable(error) }
        guard isDone else {
            return self.answer(
                ErrorPage(status: 404, detail: "It has ended meanwhile, or the form was not filled in."), .notFound)
        }
        return Self.redirect(to: DashboardSection.alarms.path)
    }

    private func testAlarm(_ request: Request) async throws -> Response {
        let actor = try await self.access.expectNamedReader(request)
        let form = try await self.form(request)
        try self.forms.check(form, request)
        guard let target = self.parts.configuration.alerts.first(where: { $0.name == form[AlarmsPage.targetField] })
        else { return self.answer(ErrorPage(status: 404, detail: "there is no such target"), .notFound) }
        let now = self.parts.clock.now
        let wait: Int64?
        do {
            wait = try await self.parts.store.write { try AlarmTest.ring(target, in: $0, by: actor, at: now) }
        } catch { throw Problem.unavailable(error) }
        if let wait {
            var answer = self.answer(
                ErrorPage(
                    status: 429,
                    detail: "A token rings \(AlarmTest.maximum) tests an hour; the next one in \(wait) seconds."),
                .tooManyRequests)
            answer.headers[.retryAfter] = "\(wait)"
            return answer
        }
        return Self.redirect(to: "/alarms?tested=" + DashboardLink.encode(target.name))
    }
}
