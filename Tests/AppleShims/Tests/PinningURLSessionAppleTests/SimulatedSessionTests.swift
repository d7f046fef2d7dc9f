// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security
import Testing

@Suite("The shim of URLSession runs tasks as Apple documents it")
struct SimulatedSessionTests {
    @Test("a data task tells creation, challenge, response, data, metrics and end, in this order")
    func dataTaskTellsCreationChallengeResponseDataMetricsAndEndInThisOrder() async throws {
        let stage = try Stage("order.example")
        stage.network.setAnswer(.init(chunks: [Data([1]), Data([2, 3])]), for: stage.address)
        let delegate = TrustAnswers(.useCredential)
        let session = stage.session(delegate)
        let task = session.dataTask(with: try stage.url)
        #expect(delegate.told == ["created"])
        #expect(task.state == .suspended)
        task.resume()
        await delegate.end()
        #expect(
            delegate.told
                == ["created", "challenge", "response 200", "data 1", "data 2", "metrics new", "end 0"])
        #expect(task.state == .completed)
        #expect(stage.network.requests(at: stage.host).count == 1)
        #expect(stage.network.challenges.map(\.answers) == [1])
    }

    @Test("a cancelled challenge sends no byte, and ends with -999 and the address")
    func cancelledChallengeSendsNoByteAndEndsWith999AndTheAddress() async throws {
        let stage = try Stage("cancelled.example")
        let delegate = TrustAnswers(.cancelAuthenticationChallenge)
        stage.session(delegate).dataTask(with: try stage.url).resume()
        await delegate.end()
        let error = try #require(delegate.error as? URLError)
        #expect(error.code == .cancelled)
        #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == (try stage.url))
        #expect(stage.network.bytes(at: stage.host) == 0)
        #expect(stage.network.handshakes(at: stage.host) == 1)
        #expect(stage.network.connections(at: stage.host) == 0)
    }

    @Test("default handling lets a good chain through and refuses a bad one with -1202")
    func defaultHandlingLetsAGoodChainThroughAndRefusesABadOneWith1202() async throws {
        let stage = try Stage("default.example")
        let (data, _) = try await stage.session().data(from: try stage.url)
        #expect(data == Data("hello".utf8))
        let foreign = try TestPKI([stage.host])
        stage.network.add(.init(presented: foreign.chain.map(\.der)), at: stage.host)
        for session in [stage.session(), stage.session(TrustAnswers(.performDefaultHandling))] {
            let error = await #expect(throws: URLError.self) { _ = try await session.data(from: try stage.url) }
            #expect(error?.code == .serverCertificateUntrusted)
            let trust = error?.userInfo[NSURLErrorFailingURLPeerTrustErrorKey]
            #expect(trust is SecTrust)
        }
        let (accepted, _) = try await stage.session(TrustAnswers(.useCredential)).data(from: try stage.url)
        #expect(accepted == Data("hello".utf8))
    }

    @Test("an open connection is used again without a challenge, until the session is flushed")
    func openConnectionIsUsedAgainWithoutAChallengeUntilTheSessionIsFlushed() async throws {
        let stage = try Stage("reuse.example")
        let delegate = TrustAnswers(.useCredential)
        let session = stage.session(delegate)
        _ = try await session.data(from: try stage.url)
        _ = try await session.data(from: try stage.url)
        #expect(stage.network.challenges.count == 1)
        await session.flush()
        _ = try await session.data(from: try stage.url)
        #expect(stage.network.challenges.count == 2)
        #expect(delegate.told.filter { $0.hasPrefix("metrics") } == ["metrics new", "metrics reused", "metrics new"])
    }

    @Test("TLS that is resumed, and a connection of another host, bring no challenge")
    func tlsThatIsResumedAndAConnectionOfAnotherHostBringNoChallenge() async throws {
        let stage = try Stage("resumed.example")
        stage.network.settings.resumption = .withinSession
        stage.network.add(.init(presented: []), at: "coalesced.example")
        stage.network.coalesce("coalesced.example", onto: stage.host)
        stage.network.setAnswer(.text("other"), for: "https://coalesced.example/")
        let session = stage.session(TrustAnswers(.useCredential))
        _ = try await session.data(from: try stage.url)
        let other = try #require(URL(string: "https://coalesced.example/"))
        #expect(try await session.data(from: other).0 == Data("other".utf8))
        await session.flush()
        _ = try await session.data(from: try stage.url)
        #expect(stage.network.challenges.count == 1)
        #expect(stage.network.handshakes(at: stage.host) == 2)
        #expect(stage.network.requests(at: stage.host).count == 3)
    }

    @Test("a redirect is told, and measured as two transactions")
    func redirectIsToldAndMeasuredAsTwoTransactions() async throws {
        let stage = try Stage("redirect.example")
        stage.network.setAnswer(.redirect(to: "/next"), for: stage.address)
        stage.network.setAnswer(.text("there"), for: "\(stage.address)next")
        let delegate = TrustAnswers(.useCredential)
        stage.session(delegate).dataTask(with: try stage.url).resume()
        await delegate.end()
        #expect(
            delegate.told
                == ["created", "challenge", "redirect 302", "response 200", "data 5", "metrics new reused", "end 0"])
    }

    @Test("a download has a file while the delegate looks")
    func downloadHasAFileWhileTheDelegateLooks() async throws {
        let stage = try Stage("download.example")
        let delegate = TrustAnswers(.useCredential)
        stage.session(delegate).downloadTask(with: try stage.url).resume()
        await delegate.end()
        #expect(delegate.told == ["created", "challenge", "file 5", "metrics new", "end 0"])
        let (file, _) = try await stage.session(delegate).download(from: try stage.url)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        try FileManager.default.removeItem(at: file)
    }

    @Test("a cancel while a challenge is answered wins over the answer")
    func cancelWhileAChallengeIsAnsweredWinsOverTheAnswer() async throws {
        let stage = try Stage("during.example")
        stage.network.settings.cancelsDuringChallenge = true
        let delegate = TrustAnswers(.useCredential)
        stage.session(delegate).dataTask(with: try stage.url).resume()
        await delegate.end()
        #expect((delegate.error as? URLError)?.code == .cancelled)
        #expect(stage.network.bytes(at: stage.host) == 0)
    }

    @Test("a task's own delegate that answers no challenge leaves it to the session's")
    func tasksOwnDelegateThatAnswersNoChallengeLeavesItToTheSessions() async throws {
        final class Silent: NSObject, URLSessionTaskDelegate {}
        let stage = try Stage("own.example")
        for first in [false, true] {
            stage.network.settings.asksTaskDelegateFirst = first
            let delegate = TrustAnswers(.useCredential)
            _ = try await stage.session(delegate).data(for: URLRequest(url: try stage.url), delegate: Silent())
            #expect(delegate.told == ["created", "challenge", "metrics new"])
        }
    }

    @Test("a task's own delegate cannot be set after the beginning, and is gone at the end")
    func tasksOwnDelegateCannotBeSetAfterTheBeginningAndIsGoneAtTheEnd() async throws {
        final class Other: NSObject, URLSessionTaskDelegate {}
        let stage = try Stage("times.example")
        stage.network.hold(stage.address)
        let delegate = TrustAnswers(.useCredential)
        let session = stage.session(delegate)
        let task = session.dataTask(with: try stage.url)
        let own = Other()
        task.delegate = own
        task.resume()
        await stage.network.held(stage.address)
        task.delegate = Other()
        #expect(task.delegate === own)
        stage.network.release(stage.address)
        await delegate.end()
        session.finishTasksAndInvalidate()
        while session.delegate != nil { await Task.yield() }
        #expect(task.delegate == nil)
    }

    @Test("a challenge that is forwarded later to a delegate without the method gets default handling")
    func challengeThatIsForwardedLaterToADelegateWithoutTheMethodGetsDefaultHandling() async throws {
        final class Silent: NSObject, URLSessionTaskDelegate {}
        final class Forwarding: NSObject, URLSessionDelegate {
            func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                session.delegateQueue.addOperation {
                    Silent().urlSession(session, didReceive: challenge, completionHandler: completionHandler)
                }
            }
        }
        let stage = try Stage("forwarded.example")
        _ = try await stage.session(Forwarding()).data(from: try stage.url)
        #expect(stage.network.challenges.map(\.disposition) == [.performDefaultHandling])
    }

    @Test("a session without the session's method asks the method for tasks")
    func sessionWithoutTheSessionsMethodAsksTheMethodForTasks() async throws {
        final class TaskLevel: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                completionHandler(.rejectProtectionSpace, nil)
            }
        }
        let stage = try Stage("level.example")
        let error = await #expect(throws: URLError.self) {
            _ = try await stage.session(TaskLevel()).data(from: try stage.url)
        }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect(stage.network.challenges.map(\.level) == [.task])
    }

    @Test("other challenges come with their kinds, and one without an answer gets default handling")
    func otherChallengesComeWithTheirKindsAndOneWithoutAnAnswerGetsDefaultHandling() async throws {
        let stage = try Stage("kinds.example")
        stage.network.add(
            .init(
                presented: stage.presented,
                challenges: [.serverTrust, .serverTrust, .clientCertificate, .httpBasic(realm: "r")]), at: stage.host)
        stage.network.setAnswer(.init(status: 401), for: stage.address)
        let (_, response) = try await stage.session(TrustAnswers(.useCredential)).data(from: try stage.url)
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(
            stage.network.challenges.map(\.method) == [
                NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodServerTrust,
                NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodHTTPBasic,
            ])
        #expect(stage.network.challenges.map(\.level) == [.session, .session, .session, .nobody])
    }

    @Test("challenges that wait for each other are all delivered before one is answered")
    func challengesThatWaitForEachOtherAreAllDeliveredBeforeOneIsAnswered() async throws {
        let stage = try Stage("together.example")
        stage.network.settings.challengesDeliveredTogether = 4
        let session = stage.session(TrustAnswers(.useCredential))
        let url = try stage.url
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await session.data(from: url).0.count } }
            for try await count in group { #expect(count == 5) }
        }
        #expect(stage.network.challenges.count == 4)
    }

    @Test("WebSocket and stream send nothing before the challenge is answered")
    func webSocketAndStreamSendNothingBeforeTheChallengeIsAnswered() async throws {
        let stage = try Stage("sockets.example")
        let url = try #require(URL(string: "wss://\(stage.host)/socket"))
        let refused = stage.session(TrustAnswers(.cancelAuthenticationChallenge))
        let socket = refused.webSocketTask(with: url)
        socket.resume()
        await #expect(throws: URLError.self) { try await socket.send(.string("x")) }
        let stream = refused.streamTask(withHostName: stage.host, port: 443)
        stream.resume()
        stream.startSecureConnection()
        await #expect(throws: URLError.self) { try await stream.write(Data([1]), timeout: 1) }
        #expect(stage.network.bytes(at: stage.host) == 0)
        let open = stage.session(TrustAnswers(.useCredential)).webSocketTask(with: url)
        open.resume()
        try await open.send(.string("hello"))
        #expect(stage.network.bytes(at: stage.host) > 5)
        open.cancel(with: .normalClosure, reason: nil)
    }

    @Test("a session's cache answers with what says how long it may be kept, until it is emptied")
    func sessionsCacheAnswersWithWhatSaysHowLongItMayBeKeptUntilItIsEmptied() async throws {
        let stage = try Stage("kept.example")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.simulatedNetwork = stage.network
        let session = URLSession(configuration: configuration)
        func requests(_ policy: URLRequest.CachePolicy = .useProtocolCachePolicy) async throws -> Int {
            _ = try await session.data(for: URLRequest(url: stage.url, cachePolicy: policy))
            return stage.network.requests(at: stage.host).count
        }
        for count in 1...2 { #expect(try await requests() == count) }
        stage.network.setAnswer(
            SimulatedNetwork.Answer(headers: ["Cache-Control": "max-age=60"]), for: stage.address)
        for _ in 0..<2 { #expect(try await requests() == 3) }
        #expect(try await requests(.reloadIgnoringLocalCacheData) == 4)
        #expect(try await requests() == 4)
        session.configuration.urlCache?.removeAllCachedResponses()
        #expect(try await requests() == 5)
    }

    @Test("a session that is invalidated lets its delegate go when its tasks are over")
    func sessionThatIsInvalidatedLetsItsDelegateGoWhenItsTasksAreOver() async throws {
        let stage = try Stage("invalid.example")
        stage.network.hold(stage.address)
        let delegate = TrustAnswers(.useCredential)
        let session = stage.session(delegate)
        session.dataTask(with: try stage.url).resume()
        await stage.network.held(stage.address)
        session.finishTasksAndInvalidate()
        #expect(session.delegate != nil)
        stage.network.release(stage.address)
        await delegate.end()
        while session.delegate != nil { await Task.yield() }
        #expect(delegate.told.last == "end 0")
    }

    @Test("a delegate on the main queue is called on the main thread")
    func delegateOnTheMainQueueIsCalledOnTheMainThread() async throws {
        // because it inherits its lock
        final class Where: TrustAnswers, @unchecked Sendable {
            override func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                self.note(SimulatedSystem.isOnMainThread ? "main" : "elsewhere")
                completionHandler(.performDefaultHandling, nil)
            }
        }
        let stage = try Stage("main.example")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.simulatedNetwork = stage.network
        let delegate = Where(.useCredential)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: .main)
        _ = try await session.data(from: try stage.url)
        #expect(delegate.told.contains("main"))
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: stage.pki.leaf.der))
    }
}
