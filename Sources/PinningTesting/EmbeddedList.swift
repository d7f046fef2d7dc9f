// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListClient
internal import PinListMetadata

/// For an app's own tests: the root and the list that it ships verify, and the list is not about to expire. A build with
/// files that do not belong together never reaches anybody.
///
/// - Parameters:
///   - root: The embedded root.
///   - list: The embedded list.
///   - time: Today.
///   - days: How long the list must hold yet: as long as the build takes to reach people, and some.
/// - Throws: ``IncompatibilityError`` that says what to do, or `PinningSetupError` from the files.
public func expectEmbeddedListVerifies(
    root: EmbeddedFile, list: EmbeddedFile, at time: Timestamp, validForDays days: Int64 = 30
) throws {
    let configuration = PinningConfiguration(
        fetcher: NoNetwork(), reportSender: NoNetwork(), clock: ManualClock(time.advanced(by: days * 86_400)))
    let pinning = try Pinning(
        root: root, list: list, refreshFrom: nil, state: .memory, configuration: configuration)
    let isStale = pinning.policyInForce.policy(at: pinning.now).list?.stale ?? true
    try IncompatibilityError.unless(!isStale, "the embedded list expires within \(days) days: embed the newest one")
}
