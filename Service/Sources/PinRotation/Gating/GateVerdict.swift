// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The answer of the gate: may this certificate be deployed now?
public enum GateVerdict: String, Hashable, Sendable, Codable, CaseIterable {
    /// It may: no more installations than agreed would be locked out.
    case safe
    /// It may not.
    case unsafe
    /// Not enough is known. That is not safe.
    case unknown
}
