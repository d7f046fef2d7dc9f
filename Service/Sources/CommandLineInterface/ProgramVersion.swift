// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The version of the three programs.
///
/// `tumbler-audit` is of a package of its own and has this file by a link, so that a release sets one line
/// (RELEASING.md).
package enum ProgramVersion {
    /// The version that `--version` prints.
    package static let current = "0.1.0-dev"
}
