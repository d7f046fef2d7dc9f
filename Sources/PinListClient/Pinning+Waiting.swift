// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension Pinning {
    /// Waits for a list that is newer than that of the rules that refused something; ``run()`` must be running.
    ///
    /// - Parameters:
    ///   - rules: The rules that were in force before the refusal.
    ///   - seconds: The maximum wait.
    /// - Returns: Whether a newer list is in force.
    @_spi(Adapters)
    public nonisolated func isList(newerThan rules: PolicyInForce, within seconds: Double) async -> Bool {
        let changes = self.policyChanges()
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                // Written as a loop, because `for await` uses a method that is newer than iOS 15 where the compiler
                // finds it.
                var changes = changes.makeAsyncIterator()
                repeat {
                    if self.policyInForce.hasNewerList(than: rules) { return true }
                } while await changes.next() != nil
                return false
            }
            group.addTask {
                try? await self.sleep(seconds: seconds)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

extension PinningError {
    /// Whether a newer list could change the verdict: the rules refused, and not the path or the connection by itself.
    ///
    /// Such a refusal asks for a list.
    @_spi(Adapters) public var isForPins: Bool {
        switch self.decision.reason {
        case .noMatchingPin, .transparency, .deniedKey, .deniedUndecidable, .unlistedDenied: true
        // The entry enforces: a newer list may suspend it, or only report.
        case .cleartext, .tampering: true
        // By the list. What a revocation list of a CA says no list of pins changes.
        case .revoked: self.decision.revoked != nil
        // The host's pins did not match the path. Without a path the connection is the reason.
        case .otherHostConnection: !self.decision.path.certificates.isEmpty
        case .pinMatch, .notPinned, .suspended, .unlistedReported, .domainExpired: false
        case .chainInvalid, .noCertificates, .overBudget, .revocationUnknown, .hostInvalid, .malformed: false
        // A transport's own reason.
        default: false
        }
    }
}
