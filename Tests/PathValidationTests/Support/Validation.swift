// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation

/// Validates what a test presents, at the time of the tests' PKI, with a clock that stands still.
func validate(
    _ presented: [TestCertificate], roots: [TestCertificate], host: String? = "api.example.com",
    limits: PathLimits = .standard, revocation: RevocationCheck? = nil, at time: Int64 = TestCertificate.time
) async throws -> PathOutcome {
    try await validate(
        presented.map(\.der), roots: roots.map(\.der), host: host, limits: limits, revocation: revocation, at: time)
}

/// The same for certificates in DER.
func validate(
    _ presented: [[UInt8]], roots: [[UInt8]], host: String? = "api.example.com", limits: PathLimits = .standard,
    revocation: RevocationCheck? = nil, at time: Int64 = TestCertificate.time
) async throws -> PathOutcome {
    let validator = PathValidator(
        roots: RootStore(certificates: roots), limits: limits, revocation: revocation, monotonicNanoseconds: { 0 })
    let identity: ServerIdentity = try host.map { .host(try HostName($0)) } ?? .uncheckedName
    return await validator.validate(presented: presented, as: identity, at: Timestamp(secondsSince1970: time))
}

extension PathOutcome {
    /// The validated path, or `nil`.
    var path: [[UInt8]]? { try? self.result.get().certificates }

    /// The refusal, or `nil`.
    var refusal: PathValidationError? {
        guard case .failure(let refusal) = self.result else { return nil }
        return refusal
    }
}
#endif
