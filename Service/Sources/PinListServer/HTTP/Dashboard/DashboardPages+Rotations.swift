// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis
internal import PinRotation

/// The page of rotations.
extension DashboardPages {
    /// The maximum number of windows of a curve: points that can be told apart on a phone.
    private static let rotationWindows: Int64 = 60
    /// The maximum number of curves of a page: each is counted from the requests of its period.
    private static let maximumCurves = 12

    static func rotations(_ asked: DashboardRequest) async throws -> RotationsPage {
        let host = asked.member(RotationsPage.hostMember)
        let all = asked.overview.rotations.filter { rotation in
            rotation.name == asked.name?.name && (host == nil || rotation.host == host)
        }
        let now = asked.overview.time
        let readable = all.filter { $0.plan != nil }.sorted { left, right in
            let (one, other) = (left.due(at: now), right.due(at: now))
            return (one == nil ? 1 : 0, one?.secondsSince1970 ?? 0, left.host)
                < (other == nil ? 1 : 0, other?.secondsSince1970 ?? 0, right.host)
        }
        let shown = Array(readable.prefix(RotationsPage.maximumRotations))
        let curves = try await Self.curves(shown.prefix(Self.maximumCurves).compactMap(\.plan), asked)
        let pins = Set(shown.compactMap { $0.plan?.new.pin.description })
        let list = asked.name?.name ?? ""
        let logged = try await asked.parts.store.read { store in
            try pins.reduce(into: [String: String]()) { sentences, pin in
                sentences[pin] = try Self.explanation(of: pin, in: list, store, at: now)
            }
        }
        return RotationsPage(
            rotations: shown.compactMap { rotation in
                rotation.plan.map { plan in
                    var shown = Self.shown(
                        plan, due: rotation.due(at: now), seen: rotation.seen(in: asked.overview.probes),
                        curve: curves[plan.host], at: now)
                    shown.logged = logged[plan.new.pin.description] ?? ""
                    return shown
                }
            },
            total: readable.count, unreadable: all.filter { $0.plan == nil }.map(\.host), isFiltered: host != nil)
    }

    /// The curves of spread of the lists with the new pin, since they were announced.
    private static func curves(
        _ plans: [RotationPlan], _ asked: DashboardRequest
    ) async throws -> [HostName: PlotSeries] {
        guard let name = asked.name else { return [:] }
        let now = asked.overview.time
        let versions = asked.parts.lists.names[name.name]?.versions ?? [:]
        let minimum = max(1, (name.adoption.window + 3_599) / 3_600)
        return try await asked.parts.store.read { store in
            var curves: [HostName: PlotSeries] = [:]
            for plan in plans {
                guard let announced = plan.steps.first(where: { $0.state == .announced }),
                    let version = announced.version
                else { continue }
                let last = min(plan.state.isFinal ? plan.since : now, now).hour
                let span = min(max(last - announced.at.hour + 1, 1), 100_000)
                let hours = max(minimum, (span + Self.rotationWindows - 1) / Self.rotationWindows)
                let count = (span + hours - 1) / hours
                let windows = try store.listRequests(of: name.name, windows: count, of: hours, until: last)
                let shares = windows.enumerated().map { index, listRequests -> Double? in
                    let end = last - (count - 1 - Int64(index)) * hours
                    let window = WindowCount(listRequests, hours: (end - hours + 1)...end, versions)
                    return window.whyNotMeasured == nil ? window.share(of: version) : nil
                }
                curves[plan.host] = PlotSeries(
                    start: Timestamp(secondsSince1970: (last - count * hours + 1) * 3_600), step: Int(hours * 3_600),
                    values: shares)
            }
            return curves
        }
    }

    static func shown(
        _ plan: RotationPlan, due: Timestamp?, seen: [String], curve: PlotSeries?, at now: Timestamp
    ) -> RotationViewModel {
        func event(_ label: String, _ state: RotationState, else planned: Timestamp?) -> RotationPlot.Event? {
            if let entered = plan.entered(state) {
                return RotationPlot.Event(label: label, time: entered, isDone: true)
            }
            // Nothing more is planned of what is over.
            guard !plan.state.isFinal, let planned else { return nil }
            return RotationPlot.Event(label: label, time: planned, isDone: false)
        }
        var events = [
            event("announced", .announced, else: plan.announceAt),
            // A rotation that ended before that time never came to it.
            plan.state.isFinal && plan.since < plan.switchAt
                ? nil : RotationPlot.Event(label: "earliest switch", time: plan.switchAt, isDone: plan.switchAt <= now),
        ].compactMap { $0 }
        if let live = plan.entered(.switched) ?? plan.sightings?.newEverywhereSince {
            events.append(RotationPlot.Event(label: "seen live", time: live, isDone: true))
        }
        events += [event("old key retired", .retired, else: plan.retireAt), event("aborted", .aborted, else: nil)]
            .compactMap { $0 }
        return RotationViewModel(
            host: plan.host.description, entries: plan.entries.count, state: plan.state.rawValue, since: plan.since,
            nextState: plan.state.following?.rawValue, due: due, newPin: plan.new.pin.description,
            oldPins: plan.old.map(\.pin.description),
            kept: ((plan.new.kept.map { [$0] } ?? []) + plan.new.heldBy).joined(separator: "; "),
            maxRefusing: plan.maxRefusing.description,
            wayBack: plan.outlook(RotationFacts(), at: now).wayBack, events: events, adoption: curve, seen: seen,
            forced: plan.forcedSteps.map {
                RotationViewModel.Forced(state: $0.state.rawValue, time: $0.at, reason: $0.forced ?? "")
            })
    }
}
