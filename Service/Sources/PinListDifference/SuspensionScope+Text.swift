// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension Suspension.Scope {
    /// `*`, or the host.
    public var text: String {
        switch self {
        case .everything: "*"
        case .entry(let host): host.description
        }
    }
}
