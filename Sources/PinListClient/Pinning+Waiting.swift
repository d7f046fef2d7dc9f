// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension Pinning {
    /// Waits for rules that are newer than those that refused something; ``run()`` must be running.
    ///
    /// - Parameters:
    ///   - version: The version of the list that refused; `nil` without one.
    ///   - seconds: The maximum wait.
    /// - Returns: Whether a newer list is in force.
    @_spi(Adapters)
    public nonisolated func isList(newerThan version: Int64?, within seconds: Double) async -> Bool {
        let changes = self.policyChanges()
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                // Written as a loop, because `for await` uses a method that is newer than iOS 15 where the compiler
                // finds it.
                var changes = changes.makeAsyncIterator()
                repeat {
                    if (self.policyInForce.listVersion ?? 0) > version ?? 0 { return true }
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
    /// Whether a newer list could change the verdict.
    @_spi(Adapters) public var isForPins: Bool {
        [.noMatchingPin, .deniedKey, .revoked, .transparency].contains(self.decision.reason)
    }
}
