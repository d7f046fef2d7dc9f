// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A clock that only goes forward, and how to wait. A protocol, so that a test can say both.
public protocol IntegrityClock: Sendable {
    /// Nanoseconds since some moment.
    var nanoseconds: UInt64 { get }

    /// Waits.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(nanoseconds: UInt64) async throws
}

/// The clock of the device.
public struct SystemIntegrityClock: IntegrityClock {
    /// Creates the clock.
    public init() {}

    /// Since the system's start.
    public var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))
    }

    /// Waits with `Task.sleep`.
    public func sleep(nanoseconds: UInt64) async throws { try await Task.sleep(nanoseconds: nanoseconds) }
}
