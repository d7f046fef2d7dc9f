// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListClient

/// A network that is not there: everything fails, and nothing leaves.
public struct NoNetwork: ListFetcher, ReportSender {
    /// Creates it.
    public init() {}

    /// Fails.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        throw FetchFailure(.network, "there is no network")
    }

    /// Fails.
    public func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        throw FetchFailure(.network, "there is no network")
    }
}
