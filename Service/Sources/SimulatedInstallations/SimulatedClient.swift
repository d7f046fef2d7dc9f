// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CertificatePinning
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
package import PinListClient
internal import PinListMetadata
internal import PinningNIO

/// One installation of the app: its trust, and its pinned connections.
package struct SimulatedClient: Sendable {
    /// What became of a page.
    package enum Page: Hashable, Sendable {
        /// It came; with the reason of the decision.
        case allowed(String)
        /// Pinning refused; with the reason.
        case refused(String)
        /// Something else went wrong.
        case failed(String)
    }

    /// What became of a refresh.
    package enum Refresh: Hashable, Sendable {
        /// All was fetched, and nothing refused; whether something is new, and the version in force.
        case done(hasChanged: Bool, version: Int64)
        /// Something went wrong.
        case failed(String)
    }

    /// How long a page may take.
    static let timeout: TimeAmount = .seconds(30)
    /// The most bytes of a page.
    static let pageBytes = 65_536

    private let pinning: Pinning
    private let http: PinnedHTTPClient
    private let host: String

    /// Makes one.
    ///
    /// - Parameters:
    ///   - pinning: Its trust.
    ///   - host: The pinned host, which is on loopback here.
    ///   - roots: The path of the roots that the device trusts.
    package init(_ pinning: Pinning, host: String, roots: String) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(roots)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.dnsOverride[host] = "127.0.0.1"
        configuration.connectionPool.retryConnectionEstablishment = false
        self.pinning = pinning
        self.host = host
        self.http = try PinnedHTTPClient(by: pinning, configuration: configuration)
    }

    /// Sends its reports until the task is cancelled.
    package func run() async { await self.pinning.run() }

    /// Asks for a newer list, as an app does about once in each `refreshAfter`.
    package func refresh() async -> Refresh {
        let outcome = await self.pinning.refresh()
        if let failure = outcome.fetchFailure { return .failed(failure.reason) }
        if let refusal = outcome.refused.first { return .failed(refusal.description) }
        guard let version = await self.pinning.status.list?.version else { return .failed("there is no list") }
        return .done(hasChanged: outcome.hasChanged, version: version)
    }

    /// Gets the app's page.
    package func page(port: Int) async -> Page {
        let url = "https://\(self.host):\(port)/page"
        var request = HTTPClientRequest(url: url)
        // The next page is asked of another server.
        request.headers.add(name: "Connection", value: "close")
        do {
            let response = try await self.http.execute(request, timeout: Self.timeout)
            _ = try await response.body.collect(upTo: Self.pageBytes)
            guard response.status == .ok else { return .failed("the server answers \(response.status)") }
            guard let decision = self.http.newestDecision(on: url) else { return .failed("there is no decision") }
            return .allowed(decision.reason.description)
        } catch let error as PinningError {
            return .refused(error.decision.reason.description)
        } catch { return .failed("\(error)") }
    }

    /// Ends its connections.
    package func shutdown() async { try? await self.http.shutdown() }
}
