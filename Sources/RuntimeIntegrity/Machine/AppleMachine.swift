// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin

/// This process on Apple's systems, seen through libc and Mach.
///
/// Apps may not make system calls of their own there, so that a hook of libc's functions can lie to some of these
/// methods; the regions of memory come from another part of the system than files, ports and the list of images do.
/// Written from Apple's documentation, and not yet compiled or run on an Apple system.
public struct AppleMachine: ObservedMachine {
    /// Asks whether an app is installed that opens a scheme: `UIApplication.canOpenURL`, which only apps have.
    let opens: (@Sendable (String) -> Bool)?

    /// Looks at nothing yet.
    ///
    /// - Parameter opens: Whether an app is installed that opens a scheme; `nil` for not knowing.
    public init(opens: (@Sendable (String) -> Bool)? = nil) { self.opens = opens }

    /// Why a call failed.
    @inline(__always)
    static func failure(_ result: Int, _ subject: String) -> Unobservable {
        switch Int32(truncatingIfNeeded: -result) {
        case ENOENT, ENOTDIR, ESRCH, EFAULT: Unobservable(.missing, subject)
        case EACCES, EPERM: Unobservable(.refused, subject)
        default: Unobservable(.unsupported, subject)
        }
    }
}
#endif
