// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import PinningIntegrity
import PinningURLSession

extension Question {
    /// All of them, those first that ask a server with a wrong pin: nothing is resumed for them.
    static let all = [
        Question("data") { try await $0.refusal { $0.dataTask(with: $1) } },
        Question("download") { try await $0.refusal { $0.downloadTask(with: $1) } },
        Question("upload") { place in
            try await place.refusal { session, url in
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                return session.uploadTask(with: request, from: Data("body".utf8))
            }
        },
        Question("socket") { place in
            let address = "wss\(place.secure.absoluteString.dropFirst("https".count))"
            guard let url = URL(string: address) else { return Answer("no address", false) }
            return try await place.refusal { session, _ in session.webSocketTask(with: url) }
        },
        Question("subclass") { place in
            let delegate = Careless(by: try place.pinning(Place.wrongPin), forwardingTo: Recorder())
            return try await place.refusal(delegate) { $0.dataTask(with: $1) }
        },
        Question("background") { place in
            let configuration = URLSessionConfiguration.background(withIdentifier: UUID().uuidString)
            return try await place.refusal(configuration: configuration) { $0.downloadTask(with: $1) }
        },
        Question("async") { try await $0.asynchronous() },
        Question("cleartext") { place in
            let pinning = try place.pinning(Place.wrongPin, host: place.plain.host)
            let recorder = Recorder()
            let session = URLSession.pinned(by: pinning, configuration: .ephemeral, delegate: recorder)
            let before = await place.requests()
            let error = await recorder.run(session.dataTask(with: place.plain))
            return place.evaluated(error is PinningError, await place.requests() - before)
        },
        Question("http3") { try await $0.newestProtocol() },
        Question("metrics") { try await $0.metrics() },
        Question("resumed") { try await $0.resumed() },
        Question("flush") { try await $0.flushed() },
        Question("many") { try await $0.many() },
        Question("methods") { place in
            let pinning = try place.pinning()
            let name = "URLSession:webSocketTask:didCloseWithCode:reason:"
            let data = "URLSession:downloadTask:didFinishDownloadingToURL:"
            let plain = PinnedSessionDelegate(by: pinning, forwardingTo: Recorder())
            let has = [name, data].map { plain.responds(to: NSSelectorFromString($0)) }
            return Answer(has == [false, true] ? "as without pinning" : "\(has)", has == [false, true])
        },
        Question("undeclared") { place in
            let delegate = Undeclared()
            let session = URLSession.pinned(
                by: try place.pinning(), configuration: .ephemeral, delegate: delegate)
            _ = try await session.data(for: URLRequest(url: place.secure))
            return Answer(delegate.wasTold ? "every call arrives" : "a call is lost", delegate.wasTold)
        },
        Question("policy") { place in
            let reader = PolicyReader()
            let session = URLSession(configuration: .ephemeral, delegate: reader, delegateQueue: nil)
            _ = try await session.data(for: URLRequest(url: place.secure))
            let host = place.secure.host ?? ""
            return Answer("names \(reader.names.joined(separator: " and "))", reader.names.contains(host))
        },
        Question("keychain") { _ in
            let mark = VersionMark(name: UUID().uuidString, version: 7, keyIDs: ["a"])
            try? KeychainVersionMark().save(mark)
            let isKept = KeychainVersionMark().load(name: mark.name) == mark
            return Answer(isKept ? "kept" : "unavailable")
        },
        Question("integrity") { _ in
            let monitor = IntegrityMonitor(.standard(), on: AppleMachine(), canary: .pinning())
            _ = await monitor.look()
            let signals = monitor.decision.attached
            return Answer(signals.isEmpty ? "no signals" : signals.joined(separator: " "), signals.isEmpty)
        },
    ]
}

extension Place {
    /// Whether a wrong pin ends a task before the server hears of it.
    func refusal(
        _ delegate: PinnedSessionDelegate? = nil, configuration: URLSessionConfiguration = .ephemeral,
        _ make: (URLSession, URL) -> URLSessionTask
    ) async throws -> Answer {
        let recorder = delegate?.forwarded as? Recorder ?? Recorder()
        let delegate = try delegate ?? PinnedSessionDelegate(by: self.pinning(Self.wrongPin), forwardingTo: recorder)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let before = await self.requests()
        let error = await recorder.run(make(session, self.secure))
        return self.evaluated(error is PinningError, await self.requests() - before)
    }

    func evaluated(_ isRefused: Bool, _ requests: Int) -> Answer {
        Answer("\(isRefused ? "refused" : "not refused"), \(requests) requests", isRefused && requests == 0)
    }

    func asynchronous() async throws -> Answer {
        let pinning = try self.pinning(Self.wrongPin)
        let session = URLSession.pinned(by: pinning, configuration: .ephemeral)
        let before = await self.requests()
        do {
            _ = try await session.data(for: URLRequest(url: self.secure))
            return self.evaluated(false, await self.requests() - before)
        } catch {
            return self.evaluated(pinning.refusal(for: error) != nil, await self.requests() - before)
        }
    }

    /// A wrong pin for a server that speaks HTTP/3, asked over it at once.
    func newestProtocol() async throws -> Answer {
        guard let url = self.http3, let host = url.host else { return Answer("not asked: no server was named") }
        let recorder = Recorder()
        let session = URLSession.pinned(
            by: try self.pinning(Self.wrongPin, host: host), configuration: .ephemeral, delegate: recorder)
        var request = URLRequest(url: url)
        request.assumesHTTP3Capable = true
        let error = await recorder.run(session.dataTask(with: request))
        let name = recorder.metrics?.transactionMetrics.last?.networkProtocolName ?? "no protocol"
        return Answer("\(error is PinningError ? "refused" : "not refused"), \(name)", error is PinningError)
    }

    func metrics() async throws -> Answer {
        let recorder = Recorder()
        let session = URLSession.pinned(by: try self.pinning(), configuration: .ephemeral, delegate: recorder)
        _ = await recorder.run(session.dataTask(with: self.secure))
        let told = recorder.told
        _ = await recorder.run(session.dataTask(with: self.secure))
        guard let last = recorder.metrics?.transactionMetrics.last else { return Answer("no metrics", false) }
        let isBefore = told.firstIndex(of: "metrics").map { $0 < (told.firstIndex(of: "end") ?? 0) } ?? false
        let hasEnds = last.localAddress != nil && last.localPort != nil && last.remoteAddress != nil
        let isLoad = last.resourceFetchType == .networkLoad
        return Answer(
            "\(isBefore ? "before" : "after") the end, ends \(hasEnds ? "known" : "unknown"), "
                + "\(last.isReusedConnection ? "reused" : "new"), \(isLoad ? "networkLoad" : "another type")",
            isBefore && hasEnds && isLoad)
    }

    /// A session that is not pinned has connected, in this process: a wrong pin must still be found.
    func resumed() async throws -> Answer {
        _ = try await URLSession(configuration: .ephemeral).data(for: URLRequest(url: self.secure))
        let recorder = Recorder()
        let pinning = try self.pinning(Self.wrongPin)
        let session = URLSession.pinned(by: pinning, configuration: .ephemeral, delegate: recorder)
        let before = await self.requests()
        let error = await recorder.run(session.dataTask(with: self.secure))
        let hasText = recorder.told.contains("hello")
        let right = try await URLSession.pinned(by: self.pinning(), configuration: .ephemeral)
            .pinnedData(for: URLRequest(url: self.secure)).0
        let requests = await self.requests() - before - 1
        return Answer(
            "\(requests == 0 ? "challenge" : "no challenge"), \(hasText ? "a text came" : "withheld")",
            error is PinningError && !hasText && String(decoding: [UInt8](right), as: UTF8.self) == "hello")
    }

    func flushed() async throws -> Answer {
        let session = URLSession.pinned(by: try self.pinning(), configuration: .ephemeral)
        guard let slow = URL(string: self.secure.absoluteString + "slow") else { return Answer("no address", false) }
        async let answer = session.pinnedData(for: URLRequest(url: slow))
        await session.flush()
        let text = String(decoding: [UInt8](try await answer.0), as: UTF8.self)
        return Answer(text == "slow" ? "the request ends well" : text, text == "slow")
    }

    /// Sixty-four sessions connect at once.
    func many() async throws -> Answer {
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                let session = URLSession.pinned(by: try self.pinning(), configuration: .ephemeral)
                group.addTask { try await session.pinnedData(for: URLRequest(url: self.secure)).0.count }
            }
            var count = 0
            for try await length in group where length == 5 { count += 1 }
            return count
        }
        return Answer("\(count) of 64 answered", count == 64)
    }
}
