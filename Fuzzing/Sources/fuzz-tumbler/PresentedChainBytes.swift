// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PathValidation

/// The search for a validated path in what a server presents: certificates, each after its length in two bytes. The
/// last two of them are the anchors.
enum PresentedChainBytes: FuzzTarget {
    static let name = "presented-chain"

    static func check(_ bytes: [UInt8]) {
        var certificates: [[UInt8]] = []
        var rest = bytes[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            let length = Int(high) << 8 | Int(low)
            certificates.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        let presented = Array(certificates.dropLast(2))
        let roots = Array(certificates.suffix(2))
        let validator = PathValidator(roots: RootStore(certificates: roots)) { 0 }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            let outcome = await validator.validate(
                presented: presented, as: .uncheckedName, at: Timestamp(secondsSince1970: 1_795_219_200))
            if case .success(let path) = outcome.result {
                precondition(path.certificates.first == presented.first)
                precondition(path.certificates.last.map { roots.contains($0) } == true)
                precondition(path.certificates.allSatisfy { presented.contains($0) || roots.contains($0) })
                precondition(path.certificates.count <= validator.limits.pathLength && outcome.validity != nil)
            }
            precondition(outcome.work.signatureChecks <= validator.limits.signatureChecks + 1)
            done.signal()
        }
        done.wait()
    }
}
