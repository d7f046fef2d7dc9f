// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Foundation

/// What is not Apple's: the state of the device that the shims simulate. It is safe with tests that run in parallel,
/// because every setting is for a certificate, a trust object or a keychain service that one test has for itself.
public enum SimulatedSystem {
    private struct State {
        var anchors: [SecCertificate] = []
        var defaultTime: Date?
        var times: [[UInt8]: Date] = [:]
        var evaluations: [[UInt8]: Int] = [:]
        var onMainThread: Set<[UInt8]> = []
        var revocationFlags: [[UInt8]: [CFOptionFlags]] = [:]
        var answered: Set<[UInt8]> = []
        var keychain: [KeychainItem] = []
        var keychainFailures: [String: OSStatus] = [:]
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var state = State()  // because it is used under the lock only

    private static func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try self.lock.withLock { try body(&self.state) }
    }

    /// Marks the main queue. On Linux its thread may change, so that `Thread.isMainThread` does not know it.
    private static let mainMark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether this is called on what is the main thread on Apple's platforms: the main queue and the main actor.
    public static var isOnMainThread: Bool {
        DispatchQueue.getSpecific(key: self.mainMark) ?? false || Thread.isMainThread
    }

    /// Adds an anchor to those that the system trusts. There is no way to take one away.
    ///
    /// - Returns: Whether it could be read.
    @discardableResult
    public static func addAnchor(_ der: [UInt8]) -> Bool {
        guard let anchor = SecCertificate(der: der) else { return false }
        self.with { state in
            if !state.anchors.contains(anchor) { state.anchors.append(anchor) }
        }
        return true
    }

    /// Sets the time of all evaluations that have no other; `nil` is the clock's.
    public static func setDefaultTime(_ time: Date?) { self.with { $0.defaultTime = time } }

    /// Sets the time of evaluations of chains with this leaf: for real chains, which are of the past.
    public static func setTime(_ time: Date, forLeaf der: [UInt8]) { self.with { $0.times[der] = time } }

    /// How often chains with this leaf were really evaluated, by whomever.
    public static func evaluations(ofLeaf der: [UInt8]) -> Int { self.with { $0.evaluations[der] ?? 0 } }

    /// How often this trust object was really evaluated.
    public static func evaluations(of trust: SecTrust) -> Int { trust.countOfEvaluations }

    /// The flags of the policies for revocation under which chains with this leaf were evaluated, in their order.
    public static func revocationFlags(ofLeaf der: [UInt8]) -> [CFOptionFlags] {
        self.with { $0.revocationFlags[der] ?? [] }
    }

    /// Has a responder say that a leaf is good. Without it nothing is known of one, which passes unless a positive answer
    /// is required.
    public static func setGood(leaf der: [UInt8]) { self.with { _ = $0.answered.insert(der) } }

    static func isGood(_ leaf: SecCertificate) -> Bool { self.with { $0.answered.contains(leaf.der) } }

    /// Whether a chain with this leaf was evaluated on the main thread.
    public static func wasEvaluatedOnMainThread(leaf der: [UInt8]) -> Bool {
        self.with { $0.onMainThread.contains(der) }
    }

    /// The functions that changed a trust object after it was made, in their order: empty for an unchanged one.
    public static func changes(of trust: SecTrust) -> [String] { trust.madeChanges }

    /// Whether evaluations of a trust object may fetch from the network.
    public static func mayFetch(_ trust: SecTrust) -> Bool { trust.current.fetches }

    /// Locks the keychain for a service, or opens it: what is asked there fails with `errSecInteractionNotAllowed`.
    public static func setKeychainLocked(_ isLocked: Bool, service: String) {
        self.setKeychainFailure(isLocked ? errSecInteractionNotAllowed : nil, service: service)
    }

    /// Makes everything that is asked of the keychain for a service fail with a code; `nil` ends that.
    public static func setKeychainFailure(_ status: OSStatus?, service: String) {
        self.with { $0.keychainFailures[service] = status }
    }

    /// Removes what the keychain has for a service.
    public static func emptyKeychain(service: String) {
        self.with { state in state.keychain.removeAll { $0.service == service } }
    }

    // MARK: For the shims

    static var anchors: [SecCertificate] { self.with { $0.anchors } }

    static func time(for question: SecTrust.Question) -> Date {
        self.with { state in question.presented.first.flatMap { state.times[$0.der] } ?? state.defaultTime } ?? Date()
    }

    static func noteEvaluation(of question: SecTrust.Question) {
        guard let leaf = question.presented.first else { return }
        let isMain = self.isOnMainThread
        self.with { state in
            state.evaluations[leaf.der, default: 0] += 1
            if isMain { state.onMainThread.insert(leaf.der) }
            for case .revocation(let flags) in question.policies.map(\.kind) {
                state.revocationFlags[leaf.der, default: []].append(flags)
            }
        }
    }

    static func keychain<Result>(
        _ service: String?, _ body: (inout [KeychainItem]) -> Result, failed: (OSStatus) -> Result
    ) -> Result {
        self.with { state in
            if let status = service.flatMap({ state.keychainFailures[$0] }) { return failed(status) }
            return body(&state.keychain)
        }
    }
}
