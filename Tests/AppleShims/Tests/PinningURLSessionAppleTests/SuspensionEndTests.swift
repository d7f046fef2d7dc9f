// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

@Suite("The end of a suspension, for URLSession")
struct SuspensionEndTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)
    private static let kept = Phone.url(host).appendingPathComponent("kept")

    /// A device under a suspension, which lets an interceptor in.
    private struct Scene {
        let until: Timestamp
        let phone: Phone
        let cache = WatchedCache()
        let session: URLSession

        init(
            isAsleep: Bool = false, runtimeEnvironment: (@Sendable () -> RuntimeEnvironment)? = nil
        ) throws {
            let theirs = try TestPKI([host])
            let until = Timestamp(secondsSince1970: TestPKI.now + 3_600)
            let entry = try Phone.entry(host, [Phone.strangePin])
            self.until = until
            self.phone = try Phone(
                [entry], trusting: [theirs.root], isAsleep: isAsleep,
                { $0.suspended = [Suspension(.everything, until: until, reason: "incident 4711")] },
                runtimeEnvironment: runtimeEnvironment)
            self.phone.serve(host, theirs.chain)
            self.phone.network.setAnswer(
                SimulatedNetwork.Answer(headers: ["Cache-Control": "max-age=86400"], chunks: [Data("theirs".utf8)]),
                for: kept.absoluteString)
            let configuration = self.phone.configuration
            configuration.urlCache = self.cache
            self.session = URLSession.pinned(by: self.phone.pinning, configuration: configuration)
        }

        /// He answers, and puts something into the cache.
        func letHimIn() async {
            // What an earlier process may have taken from him is removed, once, and not again with each task.
            await self.cache.isEmptied()
            #expect(await self.session.text(url).value == host)
            for _ in 0..<2 { #expect(await self.session.text(kept).value == "theirs") }
            #expect(self.phone.network.requests(at: host).count == 2)
        }

        /// Nothing reaches him any more, and nothing of him reaches the app.
        func expectHeIsOut() async {
            #expect(await self.session.text(kept).value == nil)
            #expect(await self.session.text(url).value == nil)
            #expect(await self.session.pinnedText(url).refusal == .noMatchingPin)
            #expect(self.phone.network.requests(at: host).count == 2)
        }
    }

    // The limit is for a cache that is never emptied.
    @Test(
        "ends the connection of who was let in by it, and empties the cache of what he left", .timeLimit(.minutes(20)))
    func endsTheConnectionOfWhoWasLetInByItAndEmptiesTheCacheOfWhatHeLeft() async throws {
        let scene = try Scene()
        await scene.letHimIn()
        await scene.phone.clock.untilSleeping()
        scene.phone.clock.now = scene.until
        await scene.cache.isEmptied()
        await scene.expectHeIsOut()
    }

    @Test("is noticed with the next request on a device that slept, where no task woke")
    func isNoticedWithTheNextRequestOnADeviceThatSleptWhereNoTaskWoke() async throws {
        let scene = try Scene(isAsleep: true)
        await scene.letHimIn()
        scene.phone.clock.now = scene.until
        await scene.expectHeIsOut()
    }

    /// An app that uses its session where it is asked of its own process: once, on another thread.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class AskedApp: @unchecked Sendable {
        private let lock = NSLock()
        private var session: URLSession?
        private var wasMade: Bool?

        /// Whether its task was made before the question was answered; `nil` when it was not asked.
        var couldMakeTask: Bool? { self.lock.withLock { self.wasMade } }

        func uses(_ session: URLSession) { self.lock.withLock { self.session = session } }

        func answer() -> RuntimeEnvironment {
            let session = self.lock.withLock {
                defer { self.session = nil }
                return self.session
            }
            guard let session else { return RuntimeEnvironment() }
            let made = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = session.dataTask(with: url)
                made.signal()
            }
            // The limit is met by a lock alone, on a machine however slow.
            let isMade = made.wait(timeout: .now() + 600) == .success
            self.lock.withLock { self.wasMade = isMade }
            return RuntimeEnvironment()
        }
    }

    @Test("is looked at without a lock: an app that is asked meanwhile may use the session")
    func isLookedAtWithoutALockAnAppThatIsAskedMeanwhileMayUseTheSession() async throws {
        let app = AskedApp()
        let scene = try Scene(isAsleep: true) { app.answer() }
        await scene.letHimIn()
        app.uses(scene.session)
        scene.phone.clock.now = scene.until
        await scene.expectHeIsOut()
        #expect(app.couldMakeTask == true)
    }

    @Test("that came while the app did not run leaves nothing in the cache of a new session")
    func thatCameWhileTheAppDidNotRunLeavesNothingInTheCacheOfANewSession() async throws {
        let scene = try Scene(isAsleep: true)
        let earlier = scene.phone.configuration
        earlier.urlCache = URLCache()
        #expect(await URLSession(configuration: earlier).text(Self.kept).value == "theirs")
        scene.phone.clock.now = scene.until
        let session = URLSession.pinned(by: scene.phone.pinning, configuration: earlier)
        #expect(await session.text(Self.kept).value == nil)
    }
}
