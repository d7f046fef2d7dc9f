// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The plan of a rotation: which key comes, which go, and how far that is (formats.md, section 9).
///
/// It is a file of the project, `rotations/HOST.yaml`, and the same as JSON on the service.
public struct RotationPlan: Hashable, Sendable {
    /// The form of the plan that is written here. Higher numbers are refused, and never written over.
    public static let schema: Int64 = 1

    /// The maximum number of bytes of a plan, in either form.
    public static let maximumLength = 1 << 20

    /// The maximum number of entries that one plan concerns: as many as a list has.
    public static let maximumEntries = 10_000

    /// The maximum number of old keys, and of people who hold one.
    public static let maximumKeys = 16

    /// The maximum number of steps: a gate may lead back many times.
    public static let maximumSteps = 512

    /// The maximum length of a text, in bytes: a line that people read.
    public static let maximumTextLength = 512

    /// The name of the list.
    public var list: String

    /// The noted hostname: the domain of the entry whose key rotates.
    public var host: HostName

    /// The entries that are concerned, that of ``host`` first: more than one where the pin is of a pin set.
    public var entries: [HostName]

    /// The pin set that the pins are written in; `nil` where they are written in the entry.
    public var pinSet: String?

    /// The key that comes.
    public var new: PlannedKey

    /// Whether the new pin was in the entries before the rotation, as a backup: then it stays when that is aborted.
    public var isPinnedBefore: Bool

    /// The keys that go.
    public var old: [PlannedKey]

    /// The time at which the new pin is to be published.
    public var announceAt: Timestamp

    /// The time from which the new key may be served, if the gate allows it.
    public var switchAt: Timestamp

    /// The time from which the old pins may go, if no server presents their keys.
    public var retireAt: Timestamp

    /// The share that may be refused when the key is switched.
    public var maxRefusing: RefusingLimit

    /// The steps so far, the first of which is ``RotationState/planned``. Never empty.
    public internal(set) var steps: [RotationStep]

    /// The observations of probes; `nil` before the first that counts.
    public var sightings: KeySightings?

    /// A plan that begins now.
    ///
    /// - Parameters:
    ///   - list: The name of the list.
    ///   - entries: The entries that are concerned, that of the host first.
    ///   - new: The key that comes.
    ///   - old: The keys that go.
    ///   - timeline: The timeline.
    ///   - time: Now.
    public init(
        list: String, host: HostName, entries: [HostName], pinSet: String? = nil, new: PlannedKey,
        isPinnedBefore: Bool = false, old: [PlannedKey], timeline: RotationTimeline,
        maxRefusing: RefusingLimit = .standard, at time: Timestamp
    ) {
        self.list = list
        self.host = host
        self.entries = entries
        self.pinSet = pinSet
        self.new = new
        self.isPinnedBefore = isPinnedBefore
        self.old = old
        self.announceAt = timeline.announceAt
        self.switchAt = timeline.switchAt
        self.retireAt = timeline.retireAt
        self.maxRefusing = maxRefusing
        self.steps = [RotationStep(.planned, at: time)]
    }

    /// The last step.
    public var lastStep: RotationStep {
        // There is one from the beginning, and none is ever removed.
        self.steps.last ?? RotationStep(.planned, at: self.announceAt)
    }

    /// The current state.
    public var state: RotationState { self.lastStep.state }

    /// The time of the last step.
    public var since: Timestamp { self.lastStep.at }

    /// The time at which a state was first entered; `nil` when it was not yet.
    public func entered(_ state: RotationState) -> Timestamp? { self.steps.first { $0.state == state }?.at }

    /// The steps that were taken although a gate did not hold.
    public var forcedSteps: [RotationStep] { self.steps.filter { $0.forced != nil } }

    /// The pins that no look sees, because they are of certificates and looks compare keys.
    public var pinsOfCertificates: [Pin] {
        ([self.new] + self.old).map(\.pin).filter { $0.kind == .certificate }
    }

    /// Whether another plan that is not done concerns one of the same entries: one of the two has to go first.
    public func collides(with other: RotationPlan) -> Bool {
        guard other.host != self.host, !other.state.isFinal, !self.state.isFinal else { return false }
        return !Set(self.entries).isDisjoint(with: other.entries)
    }

    /// Enters a state. Whether its gate holds was decided before.
    ///
    /// - Throws: ``RotationPlanError`` for a state that does not come after this one, for a time before the last
    ///   step's, and when there are ``maximumSteps`` already.
    public mutating func enter(_ step: RotationStep) throws(RotationPlanError) {
        guard self.state.possibleNext.contains(step.state) else {
            throw RotationPlanError(
                .transition, "steps[\(self.steps.count)].state",
                "is \(step.state.rawValue), which does not come after \(self.state.rawValue)")
        }
        guard step.at >= self.since else {
            throw RotationPlanError(
                .transition, "steps[\(self.steps.count)].at", "is before that of the step before, \(self.since)")
        }
        // The last place is for the end: a list is published before its step is entered.
        guard self.steps.count < Self.maximumSteps - (step.state.isFinal ? 0 : 1) else {
            throw RotationPlanError(.tooLarge, "steps", "has \(self.steps.count) elements already: it can only end")
        }
        self.steps.append(step)
    }
}

/// A key of a rotation: its pin, and where the private half is.
public struct PlannedKey: Hashable, Sendable {
    /// The pin.
    public var pin: Pin

    /// The position in a path at which it matches.
    public var position: KnownPin.Position

    /// The place where the private key is kept, in words: `HSM in Frankfurt, slot 3`.
    public var kept: String?

    /// The holders of the key, in words; none where that is not said.
    public var heldBy: [String]

    /// States a key.
    public init(_ pin: Pin, position: KnownPin.Position = .any, kept: String? = nil, heldBy: [String] = []) {
        self.pin = pin
        self.position = position
        self.kept = kept
        self.heldBy = heldBy
    }

    /// Whether it is in a path: one of the pins of its keys, leaf first, at a position that counts. The pin of a
    /// certificate never is.
    ///
    /// - Parameter pins: The pins of a path; `nil` for a key that cannot be read.
    public func isIn(_ pins: [Pin?]) -> Bool {
        pins.indices.contains { pins[$0] == self.pin && self.position.covers(index: $0) }
    }
}
