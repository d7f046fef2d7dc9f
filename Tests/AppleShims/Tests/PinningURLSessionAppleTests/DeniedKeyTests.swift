// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningURLSession
import Security
import Testing

@Suite("A key that is denied while the app runs")
struct DeniedKeyTests {
    private static let host = "api.example.com"
    private static let other = "www.example.com"

    /// A session on a device whose publisher denies keys.
    private struct Scene {
        let phone: Phone
        let delegate = RecordingDelegate()
        let session: URLSession

        init(_ domains: [PinnedDomain], trusting roots: [TestCertificate], cache: URLCache = URLCache()) throws {
            self.phone = try Phone(domains, trusting: roots)
            let configuration = self.phone.configuration
            configuration.urlCache = cache
            self.session = URLSession.pinned(
                by: self.phone.pinning, configuration: configuration, delegate: self.delegate)
        }

        /// A device with one pinned host, which answers.
        static func bank(cache: URLCache = URLCache()) throws -> (scene: Scene, pki: TestPKI) {
            let pki = try TestPKI([host])
            let scene = try Scene([Phone.entry(host, [pki.leaf.pin])], trusting: [pki.root], cache: cache)
            scene.phone.serve(host, pki.chain)
            return (scene, pki)
        }

        /// A request whose answer is held back.
        struct Running {
            let task: URLSessionDataTask
            let end: Task<RecordingDelegate.Outcome, Never>
        }

        /// A request whose answer is held back, once it has reached its server.
        func begin(_ address: String) async throws -> Running {
            self.phone.network.setAnswer(.text("slow"), for: address)
            self.phone.network.hold(address)
            let task = self.session.dataTask(with: try #require(URL(string: address)))
            let delegate = self.delegate
            let end = Task { await delegate.run(task) }
            await self.phone.network.held(address)
            return Running(task: task, end: end)
        }

        func get(_ host: String) async -> RecordingDelegate.Outcome {
            await self.delegate.run(self.session.dataTask(with: Phone.url(host)))
        }

        /// Denies the keys of certificates, and returns when all tasks that were made before have been looked at: a last one,
        /// at a server of its own whose key is denied with them, has ended.
        func deny(_ leaves: [TestCertificate]) async throws {
            let pki = try TestPKI(["last.example.com"])
            SimulatedSystem.addAnchor(pki.root.der)
            self.phone.serve("last.example.com", pki.chain)
            let last = try await self.begin("https://last.example.com/slow")
            let pins = try (leaves + [pki.leaf]).map { DeniedKey(try $0.pin) }
            try await self.phone.publish { list in list.denied = pins }
            let outcome = await last.end.value
            #expect((outcome.error as? PinningError)?.decision.reason == .deniedKey)
        }

        /// The refusal that is kept for a task.
        func refusal(of task: URLSessionTask) -> PinningDecision.Reason? {
            (self.session.delegate as? PinnedSessionDelegate)?.refusal(of: task)?.decision.reason
        }
    }

    /// An answer that may be kept for a minute.
    private static func keepable(_ text: String) -> SimulatedNetwork.Answer {
        SimulatedNetwork.Answer(headers: ["Cache-Control": "max-age=60"], chunks: [Data(text.utf8)])
    }

    // MARK: The cache

    @Test("leaves nothing in the session's cache that its server put there")
    func leavesNothingInTheSessionsCacheThatItsServerPutThere() async throws {
        let (scene, pki) = try Scene.bank()
        let url = Phone.url(Self.host)
        scene.phone.network.setAnswer(Self.keepable("kept"), for: url.absoluteString)
        for _ in 0..<2 { #expect(await scene.session.text(url).value == "kept") }
        #expect(await scene.session.pinnedText(url).value == "kept")
        #expect(scene.phone.network.requests(at: Self.host).count == 1)
        try await scene.deny([pki.leaf])
        #expect(await scene.session.text(url).value == nil)
        #expect(await scene.session.pinnedText(url).refusal == .deniedKey)
        #expect(await scene.get(Self.host).data.isEmpty)
    }

    // The limit is for a cache that is never emptied: the mutants need an end.
    @Test("empties a cache that has its responses from an earlier process, too", .timeLimit(.minutes(20)))
    func emptiesACacheThatHasItsResponsesFromAnEarlierProcessToo() async throws {
        let cache = WatchedCache()
        let (scene, pki) = try Scene.bank(cache: cache)
        let url = Phone.url(Self.host)
        scene.phone.network.setAnswer(Self.keepable("kept"), for: url.absoluteString)
        let earlier = scene.phone.configuration
        earlier.urlCache = cache
        #expect(await URLSession(configuration: earlier).text(url).value == "kept")
        // This session has no connection yet, and serves it.
        #expect(await scene.session.text(url).value == "kept")
        #expect(scene.phone.network.requests(at: Self.host).count == 1)
        let pin = try pki.leaf.pin
        try await scene.phone.publish { list in list.denied = [DeniedKey(pin)] }
        await cache.isEmptied()
        #expect(await scene.session.text(url).value == nil)
    }

    @Test(
        "that an earlier process was told of leaves nothing in the cache of a new session, which is emptied once",
        arguments: [true, false])
    func thatAnEarlierProcessWasToldOfLeavesNothingInTheCacheOfANewSession(isMadeByPinning: Bool) async throws {
        let (pki, second) = (try TestPKI([Self.host]), try TestPKI([Self.other]))
        let pin = try pki.leaf.pin
        let phone = try Phone([Phone.entry(Self.host, [pin])], trusting: [pki.root, second.root]) { list in
            list.denied = [DeniedKey(pin)]
        }
        let (url, other) = (Phone.url(Self.host), Phone.url(Self.other))
        for (host, chain) in [(Self.host, pki.chain), (Self.other, second.chain)] {
            phone.serve(host, chain)
            phone.network.setAnswer(Self.keepable("kept"), for: Phone.url(host).absoluteString)
        }
        let configuration = phone.configuration
        configuration.urlCache = URLCache()
        #expect(await URLSession(configuration: configuration).text(url).value == "kept")
        let session =
            isMadeByPinning
            ? URLSession.pinned(by: phone.pinning, configuration: configuration)
            : URLSession(
                configuration: configuration, delegate: PinnedSessionDelegate(by: phone.pinning), delegateQueue: nil)
        #expect(await session.text(url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 1)
        // What it fetches itself is kept.
        for _ in 0..<2 { #expect(await session.text(other).value == "kept") }
        #expect(phone.network.requests(at: Self.other).count == 1)
    }

    @Test("is told of once for each connection, and not again with each later list")
    func isToldOfOnceForEachConnectionAndNotAgainWithEachLaterList() async throws {
        let (scene, pki) = try Scene.bank()
        #expect(await scene.get(Self.host).error == nil)
        // With each list a last connection of its own is refused, too.
        for count in 1...3 {
            try await scene.deny([pki.leaf])
            #expect(scene.phone.pinning.decisionCounts[.deniedKey] == 1 + count)
        }
    }

    // MARK: Running tasks

    @Test("is the reason of a task that it ends, for the app's delegate and for who asks")
    func isTheReasonOfATaskThatItEnds() async throws {
        let (scene, pki) = try Scene.bank()
        let running = try await scene.begin("https://\(Self.host)/slow")
        try await scene.deny([pki.leaf])
        #expect(scene.refusal(of: running.task) == .deniedKey)
        // In place of "cancelled".
        let outcome = await running.end.value
        #expect((outcome.error as? PinningError)?.decision.reason == .deniedKey)
    }

    @Test("is the reason of a request that was redirected, under the host that its caller knows")
    func isTheReasonOfARequestThatWasRedirectedUnderTheHostThatItsCallerKnows() async throws {
        let pki = try TestPKI([Self.host])
        let second = try TestPKI([Self.other])
        let scene = try Scene([Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root, second.root])
        scene.phone.serve(Self.host, pki.chain)
        scene.phone.serve(Self.other, second.chain)
        let (first, slow) = (Phone.url(Self.other), "https://\(Self.host)/slow")
        scene.phone.network.setAnswer(.redirect(to: slow), for: first.absoluteString)
        scene.phone.network.hold(slow)
        let running = Task { [session = scene.session] in await session.text(first) }
        await scene.phone.network.held(slow)
        try await scene.deny([pki.leaf])
        let error = try #require(await running.value.error)
        #expect(scene.phone.pinning.refusal(for: error, host: Self.other)?.decision.reason == .deniedKey)
    }

    @Test("is the reason of each of many tasks that it ends at once")
    func isTheReasonOfEachOfManyTasksThatItEndsAtOnce() async throws {
        let (scene, pki) = try Scene.bank()
        let first = try await scene.begin("https://\(Self.host)/slow")
        let url = try #require(first.task.originalRequest?.url)
        let tasks = (0..<100).map { _ in scene.session.dataTask(with: url) }
        let delegate = scene.delegate
        try await withThrowingTaskGroup(of: PinningDecision.Reason?.self) { group in
            for task in tasks {
                group.addTask { (await delegate.run(task).error as? PinningError)?.decision.reason }
            }
            // Each of them runs, or waits for its turn, when the key is denied.
            while tasks.contains(where: { $0.state == .suspended }) { await Task.yield() }
            try await scene.deny([pki.leaf])
            for try await reason in group { #expect(reason == .deniedKey) }
        }
    }

    @Test("leaves alone what runs at another port of its host")
    func leavesAloneWhatRunsAtAnotherPortOfItsHost() async throws {
        let (pki, second) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let scene = try Scene(
            [Phone.entry(Self.host, [pki.leaf.pin, second.leaf.pin])], trusting: [pki.root, second.root])
        scene.phone.serve(Self.host, pki.chain)
        scene.phone.serve(Self.host, second.chain, port: 8443)
        let good = try await scene.begin("https://\(Self.host):8443/slow")
        let bad = try await scene.begin("https://\(Self.host)/slow")
        try await scene.deny([pki.leaf])
        #expect(await bad.end.value.error is PinningError)
        #expect(scene.refusal(of: good.task) == nil)
        scene.phone.network.release("https://\(Self.host):8443/slow")
        #expect(await good.end.value.data == Data("slow".utf8))
    }

    @Test("ends a stream, which has no request")
    func endsAStreamWhichHasNoRequest() async throws {
        let (scene, pki) = try Scene.bank()
        let stream = scene.session.streamTask(withHostName: Self.host, port: 443)
        let delegate = scene.delegate
        let running = Task { await delegate.run(stream) }
        while stream.state == .suspended { await Task.yield() }
        stream.startSecureConnection()
        try await stream.write(Data([1]), timeout: 1)
        try await scene.deny([pki.leaf])
        #expect(scene.refusal(of: stream) == .deniedKey)
        stream.cancel()
        #expect(await running.value.error is PinningError)
    }

    @Test("ends what runs over its connection for another host")
    func endsWhatRunsOverItsConnectionForAnotherHost() async throws {
        let wide = try TestPKI([Self.host, Self.other])
        let scene = try Scene([Phone.entry(Self.host, [wide.leaf.pin])], trusting: [wide.root])
        scene.phone.serve(Self.other, wide.chain)
        scene.phone.serve(Self.host, wide.chain)
        scene.phone.network.coalesce(Self.host, onto: Self.other)
        #expect(await scene.get(Self.other).error == nil)
        let running = try await scene.begin("https://\(Self.host)/slow")
        #expect(scene.phone.network.handshakes(at: Self.host) == 0)
        try await scene.deny([wide.leaf])
        #expect(scene.refusal(of: running.task) == .deniedKey)
        scene.phone.network.release("https://\(Self.host)/slow")
        #expect(await running.end.value.data.isEmpty)
    }

    @Test("ends what runs over an older connection of a server that has shown another key since")
    func endsWhatRunsOverAnOlderConnectionOfAServerThatHasShownAnotherKeySince() async throws {
        let (old, new) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let scene = try Scene(
            [Phone.entry(Self.host, [old.leaf.pin, new.leaf.pin])], trusting: [old.root, new.root])
        scene.phone.serve(Self.host, old.chain, version: "http/1.1")
        let running = try await scene.begin("https://\(Self.host)/slow")
        scene.phone.serve(Self.host, new.chain, version: "http/1.1")
        #expect(await scene.get(Self.host).error == nil)
        try await scene.deny([old.leaf])
        #expect(scene.refusal(of: running.task) == .deniedKey)
        scene.phone.network.release("https://\(Self.host)/slow")
        #expect(await running.end.value.data.isEmpty)
        // The server's new key is as good as before.
        #expect(await scene.get(Self.host).error == nil)
    }

    @Test("ends nothing a second time: with a later list its server's new connections stay")
    func endsNothingASecondTime() async throws {
        let (old, new) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let scene = try Scene(
            [Phone.entry(Self.host, [old.leaf.pin, new.leaf.pin])], trusting: [old.root, new.root])
        scene.phone.serve(Self.host, old.chain)
        #expect(await scene.get(Self.host).error == nil)
        try await scene.deny([old.leaf])
        scene.phone.serve(Self.host, new.chain)
        let running = try await scene.begin("https://\(Self.host)/slow")
        try await scene.deny([old.leaf])
        #expect(scene.refusal(of: running.task) == nil)
        scene.phone.network.release("https://\(Self.host)/slow")
        #expect(await running.end.value.data == Data("slow".utf8))
    }
}
