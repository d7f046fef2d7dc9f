// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinRotation

extension AlarmRules {
    /// The time over its own after which a gate is overdue, in seconds, and how urgent that is then: a day, and a week.
    static let overdue: [(seconds: Int64, severity: Alarm.Severity)] = [(604_800, .warning), (86_400, .notice)]

    /// The alarms of rotations that are planned, and of those that should be.
    package static func rotations(_ known: AlarmFacts) -> [Alarm] {
        known.rotations.filter(\.isOpen).flatMap { Self.alarms($0, known) } + Self.unplanned(known)
    }

    private static func alarms(_ rotation: RotationOverview, _ known: AlarmFacts) -> [Alarm] {
        guard let plan = rotation.plan else {
            return [
                Alarm(
                    .rotationGate, .warning, rotation.host,
                    "the plan of its rotation in \(rotation.name) cannot be read by this version: update the service",
                    key: rotation.name)
            ]
        }
        var alarms: [Alarm] = []
        let isBack = plan.state == .announced && plan.steps.contains { $0.state == .ready }
        let following = plan.state.following?.rawValue ?? "done"
        if isBack {
            alarms.append(
                Alarm(
                    .rotationGate, .warning, rotation.host,
                    "its rotation in \(rotation.name) was ready and is announced again since \(plan.since): "
                        + (plan.lastStep.reason ?? "the gate is no longer safe"), key: rotation.name))
        } else if let due = rotation.due(at: known.time),
            // A plan that entered a state late has a day in it all the same. A time in the future postpones nothing:
            // the clock of its pusher is wrong.
            let severity = Self.severity(
                ofGateDue: plan.since > known.time ? due : max(due, plan.since), known.time)
        {
            alarms.append(
                Alarm(
                    .rotationGate, severity, rotation.host,
                    "its rotation in \(rotation.name) was to be \(following) by \(due), and is \(plan.state.rawValue) "
                        + "since \(plan.since)", key: rotation.name))
        }
        guard plan.state == .planned || plan.state == .announced else { return alarms }
        return alarms
            + rotation.seen(in: known.probes).map { host in
                Alarm(
                    .earlySwitch, .critical, host,
                    "a probe saw the new key \(plan.new.pin) of the rotation in \(rotation.name), which is "
                        + "\(plan.state.rawValue) and not ready", key: rotation.name)
            }
    }

    private static func severity(ofGateDue due: Timestamp, _ now: Timestamp) -> Alarm.Severity? {
        Self.overdue.first { due < now.before($0.seconds) }?.severity
    }

    /// Hosts whose own certificate ends soon, whose own key is all that is pinned of what they serve, and for which
    /// nothing is planned. Whether a renewal brings a new key the service cannot know.
    private static func unplanned(_ known: AlarmFacts) -> [Alarm] {
        let planned = Set(
            known.rotations.filter(\.isOpen).flatMap { rotation in
                (rotation.plan?.entries.map(\.description) ?? [rotation.host]).map { "\(rotation.name) \($0)" }
            })
        return known.names.flatMap { name -> [Alarm] in
            let probes = Dictionary(
                known.probes.filter { $0.name == name.name }.map { ($0.host, $0) }
            ) { first, _ in first }
            return name.list.domains.compactMap { domain -> Alarm? in
                let host = domain.entry.domain.description
                guard domain.entry.mode == .enforce, !planned.contains("\(name.name) \(host)"),
                    let path = probes[host].map({ ProbeFacts($0.result).path }), let end = path.first?.end,
                    Self.severity(Self.certificate, until: end, known.time) != nil,
                    domain.entry.isHeldByLeafAlone(path.map(\.pin))
                else { return nil }
                return Alarm(
                    .noRotationPlan, .notice, host,
                    "its certificate \(Self.ends(end, known.time)), \(name.name) pins its own key, and no rotation "
                        + "is planned: a renewal with a new key that apps do not know would lock them out",
                    key: name.name)
            }
        }
    }
}

extension PinnedDomain {
    /// Whether of what a host serves its own key is pinned, and nothing above it.
    ///
    /// - Parameter path: The pins of the path, leaf first.
    fileprivate func isHeldByLeafAlone(_ path: [String]) -> Bool {
        let pinned = path.indices.filter { index in
            self.pins.contains { $0.pin.description == path[index] && $0.position.covers(index: index) }
        }
        return pinned == [0]
    }
}
