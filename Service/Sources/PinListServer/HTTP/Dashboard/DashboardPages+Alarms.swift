// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore
internal import PinReportAnalysis

extension DashboardPages {
    /// The time for which lost notifications of a target that no instance knows are shown, in seconds: a week.
    private static let lostShown: Int64 = 604_800

    /// The alarms that fire, the silences, and the targets.
    ///
    /// - Parameters:
    ///   - token: The token against forgery that the forms carry.
    ///   - mayOperate: Whether the person who looks may acknowledge and silence.
    static func alarms(_ asked: DashboardRequest, token: String, mayOperate: Bool) async throws -> AlarmsPage {
        let overview = asked.overview
        let ended = try await asked.parts.store.read { try $0.endedAlarms(limit: 50) }
        let ours = asked.parts.configuration.alerts
        let tested = asked.member("tested")
        return AlarmsPage(
            firing: overview.alarms.map { Self.alarm($0, overview.silences) }, recent: ended.map { Self.alarm($0, []) },
            silences: overview.silences,
            targets: ours.map { target in
                AlarmsPage.Target(
                    id: target.name, kind: target.kind.rawValue, label: target.name,
                    delivery: Self.delivery(overview.deliveries[target.name]))
            } + Self.others(overview, but: Set(ours.map(\.name))),
            mayOperate: mayOperate, token: token,
            notice: ours.first { $0.name == tested }.map { "A test is on its way to \($0.name)." })
    }

    /// The targets that other instances know, and those that none knows while something waits or was given up.
    private static func others(_ overview: Overview, but ours: Set<String>) -> [AlarmsPage.Target] {
        let known = overview.targets.filter { !ours.contains($0.name) }
        let lost = overview.deliveries.filter { name, delivery in
            !ours.contains(name) && delivery.lost > 0
                && overview.time.secondsSince1970 - delivery.at.secondsSince1970 < Self.lostShown
        }
        let forgotten = Set(lost.keys).subtracting(known.map(\.name)).sorted().map {
            StoredTarget(name: $0, seenAt: nil, waiting: 0)
        }
        return (known + forgotten).compactMap { target in
            let delivery = overview.deliveries[target.name]
            let isKnown = target.isKnown(at: overview.targetTime)
            let isLost = lost[target.name] != nil || target.waiting > 0
            guard isKnown || isLost else { return nil }
            return AlarmsPage.Target(
                id: target.name, kind: "of another instance", label: target.name,
                delivery: isKnown
                    ? Self.delivery(delivery) : .unknown(waiting: target.waiting, lost: delivery?.lost ?? 0),
                isHere: false)
        }
    }

    private static func delivery(_ stored: StoredDelivery?) -> AlarmsPage.Target.Delivery {
        guard let stored else { return .none }
        return stored.trouble.map { .failed(stored.at, $0) } ?? .delivered(stored.at)
    }

    /// An alarm as pages show it.
    static func alarm(_ alarm: StoredAlarm, _ silences: [StoredSilence]) -> AlarmViewModel {
        let kind = Alarm.Kind(rawValue: alarm.kind)
        var shown = AlarmViewModel(
            id: alarm.key, severity: .init(.known(alarm.severity)), title: alarm.detail,
            advice: AlarmRunbook.action(alarm.kind, alarm.detail) ?? "", runbook: kind.map { AlarmRunbook.path($0) },
            path: Self.path(kind), since: alarm.since, until: alarm.endedAt)
        shown.acknowledged = alarm.acknowledgement
        shown.silenced = silences.covering(alarm)
        return shown
    }

    /// A page that shows more.
    private static func path(_ kind: Alarm.Kind?) -> String? {
        switch kind {
        case .failureRate: DashboardSection.failures.path
        case .certificateExpiry, .pinExpiry, .probeFailed, .probeUnreached, .probeMissing, .noRotationPlan,
            .revokedCertificate:
            DashboardSection.hosts.path
        case .unexpectedCertificate: DashboardSection.certificates.path
        case .adoptionStalled: DashboardSection.adoption.path
        case .rotationGate, .earlySwitch: DashboardSection.rotations.path
        case .listExpiry, .rootExpiry: DashboardSection.lists.path
        case .publishRefused, .equivocation, .unknownList: DashboardSection.audit.path
        default: nil
        }
    }
}
