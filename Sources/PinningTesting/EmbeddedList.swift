// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListClient
internal import PinListMetadata

/// Verifies the root and the list that an app ships, for its own tests: their signatures, and that the list does not
/// expire soon. So a build with files that do not belong together is never shipped.
///
/// - Parameters:
///   - root: The embedded root.
///   - list: The embedded list.
///   - time: Today.
///   - days: The minimum remaining validity: the time until the build reaches its users, and some reserve.
/// - Throws: ``IncompatibilityError`` with the remedy, or `PinningSetupError` from the files.
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
