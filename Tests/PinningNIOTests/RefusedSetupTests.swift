// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import PinListClient
import Testing

@testable import PinningNIO

@Suite("A configuration under which a refusal would be ignored is refused when it is made")
struct RefusedSetupTests {
    static let host = "api.example.com"

    private func scene() throws -> PinnedScene {
        try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [TestPKI([]).root])
    }

    private func expectRefused(_ words: String, _ body: () throws -> Void) {
        let error = #expect(throws: PinningSetupError.self) { try body() }
        #expect(error?.code == .configuration)
        #expect(error?.reason.contains(words) == true, "\(String(describing: error))")
    }

    @Test("TLS that does not verify", arguments: [CertificateVerification.none, .noHostnameVerification])
    func tlsThatDoesNotVerify(_ verification: CertificateVerification) throws {
        let scene = try self.scene()
        var tls = try scene.tls
        tls.certificateVerification = verification
        self.expectRefused("fullVerification") { _ = try PinnedTLS(by: scene.pinning, configuration: tls) }
        var configuration = try scene.configuration([])
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        self.expectRefused("fullVerification") {
            _ = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
        }
        self.expectRefused("fullVerification") {
            _ = try configuration.pinned(by: scene.pinning, for: Self.host)
        }
        self.expectRefused("fullVerification") { _ = try HTTPClientFetcher(tls: tls) }
    }

    @Test("a client of one host that follows redirects, by default too")
    func clientOfOneHostThatFollowsRedirectsByDefaultToo() throws {
        let scene = try self.scene()
        var configuration = try scene.configuration([])
        self.expectRefused("redirects") { _ = try configuration.pinned(by: scene.pinning, for: Self.host) }
        configuration.redirectConfiguration = .follow(max: 1, allowCycles: false)
        self.expectRefused("redirects") { _ = try configuration.pinned(by: scene.pinning, for: Self.host) }
        configuration.redirectConfiguration = .disallow
        #expect(throws: Never.self) { try configuration.pinned(by: scene.pinning, for: Self.host) }
    }

    @Test("a system whose bundle of roots is empty, as in an image that was built without them, or has none")
    func systemWhoseBundleOfRootsIsEmptyOrHasNone() throws {
        let bundle = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString).crt")
        self.expectRefused("install ca-certificates") { _ = try TrustedRoots.system([bundle.path]) }
        defer { try? FileManager.default.removeItem(at: bundle) }
        for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            try Data(text.utf8).write(to: bundle)
            self.expectRefused("has no root that can be used") { _ = try TrustedRoots.system([bundle.path]) }
        }
    }

    @Test("event loops on which NIOSSL does not run")
    func eventLoopsOnWhichNIOSSLDoesNotRun() throws {
        let scene = try self.scene()
        var configuration = try scene.configuration([])
        self.expectRefused("MultiThreadedEventLoopGroup") {
            _ = try PinnedHTTPClient(by: scene.pinning, configuration: configuration, on: NIOAsyncTestingEventLoop())
        }
        configuration.redirectConfiguration = .disallow
        self.expectRefused("MultiThreadedEventLoopGroup") {
            _ = try configuration.pinned(by: scene.pinning, for: Self.host, on: NIOAsyncTestingEventLoop())
        }
    }

    @Test("hooks that are taken, and SOCKS proxies")
    func hooksThatAreTakenAndSOCKSProxies() throws {
        let scene = try self.scene()
        var configuration = try scene.configuration([])
        configuration.http2ConnectionDebugInitializer = { $0.eventLoop.makeSucceededVoidFuture() }
        self.expectRefused("hooks") { _ = try PinnedHTTPClient(by: scene.pinning, configuration: configuration) }
        configuration.http2ConnectionDebugInitializer = nil
        configuration.proxy = .socksServer(host: "127.0.0.1", port: 1_080)
        self.expectRefused("SOCKS") { _ = try PinnedHTTPClient(by: scene.pinning, configuration: configuration) }
    }

    @Test("trust roots that cannot be read, or are none")
    func trustRootsThatCannotBeReadOrAreNone() throws {
        let scene = try self.scene()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file("/nonexistent/roots.pem")
        self.expectRefused("cannot be read") { _ = try PinnedTLS(by: scene.pinning, configuration: tls) }
        tls.trustRoots = .certificates([])
        self.expectRefused("no root") { _ = try PinnedTLS(by: scene.pinning, configuration: tls) }
    }

    @Test("what is no host, and a request with TLS settings of its own")
    func whatIsNoHostAndARequestWithTLSSettingsOfItsOwn() async throws {
        let scene = try self.scene()
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        let error = #expect(throws: PinningError.self) { try tls.verification(for: "") }
        #expect(error?.decision.reason == .hostInvalid)
        let client = try scene.client([])
        var request = HTTPClientRequest(url: "https://\(Self.host)/")
        request.tlsConfiguration = .makeClientConfiguration()
        await #expect(throws: PinningSetupError.self) { try await client.execute(request, timeout: .ample) }
        for url in ["ftp://api.example.com/", "https://", "https://user@api.example.com/", "https://a:70000/", "x"] {
            await #expect(throws: HTTPClientError.invalidURL) { try await client.text(url) }
        }
        try await client.shutdown()
    }
}
#endif
