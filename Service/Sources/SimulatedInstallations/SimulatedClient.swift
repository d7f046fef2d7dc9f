// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
package import CertificatePinning
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
package import PinFailureReports
package import PinListClient
internal import PinListMetadata
internal import PinningNIO

/// One installation of the app: its trust, and its pinned connections.
package struct SimulatedClient: Sendable {
    /// The result of loading a page.
    package enum Page: Hashable, Sendable {
        /// It came; with the reason of the decision.
        case allowed(String)
        /// Pinning refused; with the reason.
        case refused(String)
        /// Another error occurred.
        case failed(String)
    }

    /// The result of a refresh.
    package enum Refresh: Hashable, Sendable {
        /// All was fetched, and nothing refused; whether something is new, and the version in force.
        case done(hasChanged: Bool, version: Int64)
        /// An error occurred.
        case failed(String)
    }

    /// The time that a page may take.
    static let timeout: TimeAmount = .seconds(30)
    /// The maximum number of bytes of a page: more is no page of the demonstration.
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

    /// Requests a newer list, as an app does about once in each `refreshAfter`.
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

/// The place of a simulated installation, and its version of the app.
package struct SimulatedPlace: Hashable, Sendable {
    /// The number of the first clients that sit in offices, whose networks they share.
    static let inOffices = 8
    /// The number of them that share an office.
    static let perOffice = 4
    /// From this number on the clients have the version before.
    static let firstOld = 150

    /// The number of the client, from 0.
    package let number: Int

    /// The place of a client.
    package init(number: Int) { self.number = number }

    /// An address of RFC 3849, which is reserved for documentation. A /48 of its own for each client, but for those in
    /// offices.
    package var address: String {
        let network = self.number < Self.inOffices ? self.number / Self.perOffice : self.number
        return "2001:db8:\(String(network + 1, radix: 16))::\(String(self.number + 1, radix: 16))"
    }

    /// The app, as reports name it.
    package var app: ReportedApp {
        ReportedApp(
            bundleID: "com.example.app", version: self.number < Self.firstOld ? "4.2.0" : "4.1.7", platform: "LINUX",
            platformVersion: "simulated")
    }
}

/// A clock that shows the time, and on which no wait ever ends.
///
/// The schedule of a client, the refresh after a mismatch and the repetition of a report all begin with a wait. In the
/// demonstration, and in a drill, the script says when clients refresh, or its counts would be a matter of luck.
package struct StandingClock: PinningClock {
    private let clock = SystemClock()

    /// A clock that shows the machine's time.
    package init() {}

    /// The time of day, in whole seconds.
    package var now: Timestamp { self.clock.now }

    /// Waits for the end of the task.
    ///
    /// - Throws: `CancellationError`, always.
    package func sleep(seconds: Double) async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        // Ends with the task alone; the continuation is kept, for a stream whose continuation is gone ends.
        for await _ in never {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }
}

/// Random numbers below a 64th of all that there are: the random part of a wait is so short that nothing waits, and
/// installation ids are different all the same.
///
/// A report waits for a random part of a minute before it is first sent, and on a ``StandingClock`` no wait ends.
struct PromptRandomness: PinningRandomness {
    /// 58 random bits, after six that are 0.
    func bits() -> UInt64 { UInt64.random(in: 0...(.max >> 6)) }
}
