// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Why DeviceCheck did nothing.
public struct DCError: Swift.Error, Hashable, Sendable {
    /// Which reason.
    public enum Code: Int, Sendable {
        /// Anything else.
        case unknownSystemFailure = 0
        /// The device has no App Attest.
        case featureUnsupported = 1
        /// What was handed over has another form.
        case invalidInput = 2
        /// The key is not there, was not attested, or was attested before.
        case invalidKey = 3
        /// Apple's server does not answer.
        case serverUnavailable = 4
    }

    /// Which reason.
    public let code: Code

    /// An error.
    public init(_ code: Code) { self.code = code }
}

/// Makes keys, has Apple attest them, and signs with them (iOS 14, watchOS 9). Not `Sendable`.
open class DCAppAttestService: NSObject {
    /// The service of the device.
    open class var shared: DCAppAttestService { DCAppAttestService() }

    /// Whether the device has App Attest.
    open var isSupported: Bool { SimulatedAppAttest.device != nil }

    /// Makes a key.
    open func generateKey() async throws -> String { try await Self.device().generateKey() }

    /// Has Apple attest a key.
    open func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
        try await Self.device().attestKey(keyId, clientDataHash)
    }

    /// Signs a request.
    open func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
        try await Self.device().generateAssertion(keyId, clientDataHash)
    }

    private static func device() throws -> SimulatedAppAttest {
        guard let device = SimulatedAppAttest.device else { throw DCError(.featureUnsupported) }
        return device
    }
}
