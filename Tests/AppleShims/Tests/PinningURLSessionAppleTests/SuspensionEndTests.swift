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

        init(isAsleep: Bool = false) throws {
            let theirs = try TestPKI([host])
            let until = Timestamp(secondsSince1970: TestPKI.now + 3_600)
            let entry = try Phone.entry(host, [Phone.strangePin])
            self.until = until
            self.phone = try Phone([entry], trusting: [theirs.root], isAsleep: isAsleep) { list in
                list.suspended = [Suspension(.everything, until: until, reason: "incident 4711")]
            }
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
