// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Something that is done in a drill without a person: what one would type.
enum DrillDeed: Sendable {
    /// Says that something is wrong.
    case noticed
    /// Names a cause.
    case cause(DrillCause)
    /// Runs `tumbler` with these words; paths are absolute.
    case command([String])
    /// Edits a file: what is done to it in words, its path, the text that goes and the one that comes.
    case edit(String, file: String, replacing: String, with: String)
    /// Gives a file another name.
    case move(String, to: String)
}
