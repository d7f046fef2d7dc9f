// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinFailureReports

extension Pinning {
    /// A client for one trial, which nobody else knows: what it decides leaves its events, counts and reports with it.
    ///
    /// - Parameters:
    ///   - policy: Its rules.
    ///   - clock: Its clock.
    @_spi(Adapters)
    public static func forTrial(_ policy: PinningPolicy, clock: any PinningClock) -> Pinning {
        let nobody = NoTransport()
        return Pinning(
            policy: policy, state: .memory,
            configuration: PinningConfiguration(
                fetcher: nobody, reportSender: nobody,
                app: ReportedApp(bundleID: "", version: "", platform: "", platformVersion: ""), clock: clock))
    }
}

/// Fetches and sends nothing: a client of a trial never asks it.
private struct NoTransport: ListFetcher, ReportSender {
    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        throw FetchError(.network, "a trial has no network")
    }

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        throw FetchError(.network, "a trial has no network")
    }
}
