// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// A chain, its policies, and the outcome of evaluating it. Not `Sendable`.
///
/// What changes is read and written under a lock only: Apple's is safe to use from several threads, one at a time.
public final class SecTrust: Hashable {
    /// What an evaluation depends on.
    package struct Question {
        package var presented: [SecCertificate]
        package var policies: [SecPolicy]
        package var anchors: [SecCertificate]?
        package var anchorsOnly: Bool?
        package var time: Date?
        package var fetches = true
    }

    /// The outcome of an evaluation.
    package enum Outcome {
        case path([SecCertificate])
        case failure(OSStatus)
    }

    private let lock = NSLock()
    private var question: Question
    private var outcome: Outcome?
    private var changes: [String] = []
    private var evaluations = 0

    package init(presented: [SecCertificate], policies: [SecPolicy]) {
        self.question = Question(presented: presented, policies: policies)
    }

    /// The same object.
    public static func == (left: SecTrust, right: SecTrust) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// What it would be evaluated by now.
    package var current: Question { self.lock.withLock { self.question } }

    /// The names of the functions that changed it after it was made.
    package var madeChanges: [String] { self.lock.withLock { self.changes } }

    /// How often it was really evaluated.
    package var countOfEvaluations: Int { self.lock.withLock { self.evaluations } }

    /// Changes what it is evaluated by, and forgets the outcome.
    package func change(_ name: String, _ body: (inout Question) -> Void) {
        self.lock.withLock {
            body(&self.question)
            self.outcome = nil
            self.changes.append(name)
        }
    }

    /// The outcome: a known one, or that of a new evaluation.
    package func evaluated() -> Outcome {
        if let known = self.lock.withLock({ self.outcome }) { return known }
        let question = self.current
        SimulatedSystem.noteEvaluation(of: question)
        let outcome = Evaluation(question).run()
        self.lock.withLock {
            self.evaluations += 1
            self.outcome = outcome
        }
        return outcome
    }
}

/// Makes a trust object.
///
/// - Parameters:
///   - certificates: A certificate, or an array of them with the leaf first.
///   - policies: A policy, an array of them, or `nil` for X.509 alone.
///   - trust: Where it goes.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    let presented = (certificates as? SecCertificate).map { [$0] } ?? (certificates as? [SecCertificate])
    guard let presented, !presented.isEmpty, let policies = readPolicies(policies) else { return errSecParam }
    trust.pointee = SecTrust(presented: presented, policies: policies)
    return errSecSuccess
}

/// Reads a policy or an array of policies; `nil` stands for X.509 alone.
func readPolicies(_ policies: CFTypeRef?) -> [SecPolicy]? {
    guard let policies else { return [SecPolicyCreateBasicX509()] }
    return (policies as? SecPolicy).map { [$0] } ?? (policies as? [SecPolicy])
}

/// Evaluates: may take long, and asks the network on Apple's platforms.
///
/// - Parameters:
///   - trust: What to evaluate.
///   - error: Where the reason goes when it is not trusted.
/// - Returns: Whether it is trusted.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    switch trust.evaluated() {
    case .path:
        error?.pointee = nil
        return true
    case .failure(let status):
        let text = SecCopyErrorMessageString(status, nil).map(String.init(describing:)) ?? ""
        error?.pointee = NSError(
            domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: text])
        return false
    }
}

/// What is called with the result of an evaluation.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// Evaluates on a queue. Must be called on that queue, as on Apple's platforms.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    nonisolated(unsafe) let call = (trust, result)  // because the caller gives both to the queue
    queue.async {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(call.0, &error)
        call.1(call.0, isTrusted, error)
    }
    return errSecSuccess
}

/// The validated path with its anchor; what was presented when it is not trusted. Evaluates when that was not done yet.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    switch trust.evaluated() {
    case .path(let path): path as CFArray
    case .failure: trust.current.presented as CFArray
    }
}

/// How many certificates the chain has.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    SecTrustCopyCertificateChain(trust)?.count ?? 0
}
