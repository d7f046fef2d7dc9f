// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension TaskRun {
    /// Gives the response and its data to whom the task's kind says; data or a file for a completion handler.
    func receive(_ final: Final) async throws -> (data: Data?, file: URL?) {
        self.task.with { $0.response = final.response }
        try self.checkCancellation()
        if let download = self.task as? URLSessionDownloadTask { return (nil, try await self.store(final, download)) }
        guard let data = self.task as? URLSessionDataTask else { return (nil, nil) }
        if case .data = self.task.receiver {
            let whole = try await self.collect(final.answer)
            self.keep(CachedURLResponse(response: final.response, data: whole))
            return (whole, nil)
        }
        try await self.deliver(final, to: data)
        return (nil, nil)
    }

    /// All data at once.
    private func collect(_ answer: SimulatedNetwork.Answer) async throws -> Data {
        var data = Data()
        for chunk in answer.chunks {
            try self.checkCancellation()
            data += chunk
            self.task.with { $0.received += Int64(chunk.count) }
        }
        if let failure = answer.failure { throw URLError(failure) }
        return data
    }

    /// The response, then the data in its pieces, to the delegate.
    private func deliver(_ final: Final, to data: URLSessionDataTask) async throws {
        let response = final.response
        let disposition: URLSession.ResponseDisposition = try await self.ask { run, give in
            guard let listener = data.listener(as: (any URLSessionDataDelegate).self) else { return give(.allow) }
            listener.urlSession(run.session, dataTask: data, didReceive: response, completionHandler: give)
        }
        switch disposition {
        case .cancel: throw URLError(.cancelled)
        case .allow: break
        case .becomeDownload: return try await self.become(final, data)
        case .becomeStream: return await self.becomeStream(data)
        }
        var whole = Data()
        for chunk in final.answer.chunks {
            try self.checkCancellation()
            self.task.with { $0.received += Int64(chunk.count) }
            whole += chunk
            await self.tell { run in
                data.listener(as: (any URLSessionDataDelegate).self)?
                    .urlSession(run.session, dataTask: data, didReceive: chunk)
            }
        }
        try self.checkCancellation()
        if let failure = final.answer.failure { throw URLError(failure) }
        guard !final.isCached, self.session.configuration.urlCache != nil, data.originalRequest?.httpMethod == "GET"
        else { return }
        let proposed = CachedURLResponse(response: response, data: whole)
        let kept: CachedURLResponse? = try await self.ask { run, give in
            guard let listener = data.listener(as: (any URLSessionDataDelegate).self) else { return give(proposed) }
            listener.urlSession(
                run.session, dataTask: data, willCacheResponse: proposed, completionHandler: give)
        }
        if let kept { self.keep(kept) }
    }

    private func keep(_ response: CachedURLResponse) {
        self.session.configuration.urlCache?.keep(response, for: self.task.currentRequest)
    }

    /// The response that the session's cache has, which comes over no connection.
    func cached() -> Final? {
        guard self.task is URLSessionDataTask, let request = self.task.currentRequest,
            let kept = self.session.configuration.urlCache?.response(for: request),
            let response = kept.response as? HTTPURLResponse
        else { return nil }
        self.measured.begin(request)
        self.measured.change { values in
            values.response = response
            values.responseEnd = Date()
            values.fetchType = .localCache
        }
        return Final(
            response: response, answer: SimulatedNetwork.Answer(status: response.statusCode, chunks: [kept.data]),
            isCached: true)
    }

    /// Goes on as a download: another task, with the same number on Apple's platforms; with its own here.
    private func become(_ final: Final, _ data: URLSessionDataTask) async throws {
        let download = URLSessionDownloadTask(self.session, data.originalRequest, .delegate)
        download.delegate = data.delegate
        download.with { progress in
            progress.state = .running
            progress.wasBegun = true
            progress.response = final.response
        }
        await self.tell { run in
            data.listener(as: (any URLSessionDataDelegate).self)?
                .urlSession(run.session, dataTask: data, didBecome: download)
        }
        _ = try await TaskRun(download).store(final, download)
        download.with { $0.state = .completed }
        await TaskRun(download).tell { run in
            run.task.listener?.urlSession(run.session, task: run.task, didCompleteWithError: nil)
        }
    }

    /// Goes on as a stream, which nothing more is done with here.
    private func becomeStream(_ data: URLSessionDataTask) async {
        guard let endpoint = data.currentRequest?.url.flatMap(Self.endpoint) else { return }
        let stream = URLSessionStreamTask(self.session, endpoint)
        await self.tell { run in
            data.listener(as: (any URLSessionDataDelegate).self)?
                .urlSession(run.session, dataTask: data, didBecome: stream)
        }
    }

    /// Writes the data into a file. The delegate's is gone when its method returns; the handler's later.
    func store(_ final: Final, _ download: URLSessionDownloadTask) async throws -> URL? {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
        try Data().write(to: file)
        var whole = Data()
        let expected = final.response.expectedContentLength
        do {
            for chunk in final.answer.chunks {
                try self.checkCancellation()
                whole += chunk
                self.task.with { $0.received += Int64(chunk.count) }
                let total = Int64(whole.count)
                guard case .delegate = download.receiver else { continue }
                await self.tell { run in
                    download.listener(as: (any URLSessionDownloadDelegate).self)?
                        .urlSession(
                            run.session, downloadTask: download, didWriteData: Int64(chunk.count),
                            totalBytesWritten: total, totalBytesExpectedToWrite: expected)
                }
            }
            try self.checkCancellation()
            if let failure = final.answer.failure { throw URLError(failure) }
            try whole.write(to: file)
        } catch let error {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
        guard case .delegate = download.receiver else { return file }
        await self.tell { run in
            download.listener(as: (any URLSessionDownloadDelegate).self)?
                .urlSession(run.session, downloadTask: download, didFinishDownloadingTo: file)
            try? FileManager.default.removeItem(at: file)
        }
        return nil
    }
}
