// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinFailureReports

extension Pinning {
    /// A client for one trial. Its events, counts and reports stay in it.
    ///
    /// - Parameters:
    ///   - policy: The rules.
    ///   - clock: The clock.
    @_spi(Adapters)
    public static func forTrial(_ policy: PinningPolicy, clock: any PinningClock) -> Pinning {
        let transport = NoTransport()
        return Pinning(
            policy: policy, state: .memory,
            configuration: PinningConfiguration(
                fetcher: transport, reportSender: transport,
                app: ReportedApp(bundleID: "", version: "", platform: "", platformVersion: ""), clock: clock))
    }
}

/// A transport without a network; a client of a trial never uses it.
private struct NoTransport: ListFetcher, ReportSender {
    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        throw FetchError(.network, "a trial has no network")
    }

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        throw FetchError(.network, "a trial has no network")
    }
}
