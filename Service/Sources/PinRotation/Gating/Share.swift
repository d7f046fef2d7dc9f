// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A share as people read it.
public enum Share {
    /// `0.4 %`: rounded up, so that few are not none.
    ///
    /// - Parameter share: 0 to 1.
    public static func percent(_ share: Double) -> String {
        guard share.isFinite, let tenths = Int(exactly: (min(max(share, 0), 1) * 1_000).rounded(.up)) else {
            return "? %"
        }
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}
