// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What is not Apple's: what a device with App Attest does, for the task that runs on it and those that this one starts.
public struct SimulatedAppAttest: Sendable {
    let generateKey: @Sendable () async throws -> String
    let attestKey: @Sendable (String, Data) async throws -> Data
    let generateAssertion: @Sendable (String, Data) async throws -> Data

    @TaskLocal static var device: SimulatedAppAttest?

    /// A device by its three functions, which throw what they want the app to see.
    public init(
        generateKey: @escaping @Sendable () async throws -> String,
        attestKey: @escaping @Sendable (String, Data) async throws -> Data,
        generateAssertion: @escaping @Sendable (String, Data) async throws -> Data
    ) {
        self.generateKey = generateKey
        self.attestKey = attestKey
        self.generateAssertion = generateAssertion
    }

    /// Runs an app on the device.
    public func run<Result>(_ app: () async throws -> Result) async rethrows -> Result {
        try await Self.$device.withValue(self) { try await app() }
    }
}
