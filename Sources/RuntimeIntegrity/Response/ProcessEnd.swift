// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CRuntimeProbe

/// The end of this process.
public enum ProcessEnd {
    /// The status that it ends with: sysexits.h's `EX_SOFTWARE`, which says nothing about why.
    public static let status: Int32 = 70

    /// Ends it. On Linux by a system call of our own, so that a hooked `exit` does not keep it alive.
    @Sendable public static func now() { probe_end(self.status) }
}
