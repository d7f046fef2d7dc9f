// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension TaskRun {
    private static let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]
    /// As many redirects as Apple's documentation of `URLError.httpTooManyRedirects` means are not told: twenty.
    private static let maximumRedirects = 20

    /// The response that counts, after redirects.
    func respond() async throws -> Final {
        try self.checkCancellation()
        guard var request = try await self.firstRequest(), request.url != nil else { throw URLError(.badURL) }
        for _ in 0...Self.maximumRedirects {
            let final = try await self.exchange(request)
            guard let next = Self.redirected(request, by: final.response) else { return final }
            let response = final.response
            if self.session.identifier == nil {
                let chosen: URLRequest? = try await self.ask { run, give in
                    guard let listener = run.task.listener else { return give(next) }
                    listener.urlSession(
                        run.session, task: run.task, willPerformHTTPRedirection: response, newRequest: next,
                        completionHandler: give)
                }
                guard let chosen else { return final }
                request = chosen
            } else {
                request = next
            }
            self.measured.noteRedirect()
            let following = request
            self.task.with { $0.current = following }
        }
        throw URLError(.httpTooManyRedirects)
    }

    /// The request as it is sent: with what the configuration adds, and after what the delegate says of a delay.
    private func firstRequest() async throws -> URLRequest? {
        guard var request = self.task.currentRequest else { return nil }
        let configuration = self.session.configuration
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            guard let name = name as? String, request.value(forHTTPHeaderField: name) == nil else { continue }
            request.setValue("\(value)", forHTTPHeaderField: name)
        }
        guard configuration.identifier != nil, self.task.earliestBeginDate != nil else { return request }
        let proposed = request
        let (disposition, other): (URLSession.DelayedRequestDisposition, URLRequest?) = try await self.ask {
            run, give in
            let name = "URLSession:task:willBeginDelayedRequest:completionHandler:"
            guard let listener = run.task.listener?.having(name) else { return give((.continueLoading, nil)) }
            listener.urlSession(run.session, task: run.task, willBeginDelayedRequest: proposed) { give(($0, $1)) }
        }
        switch disposition {
        case .continueLoading: return request
        case .useNewRequest: return other
        case .cancel: throw URLError(.cancelled)
        }
    }

    /// One request over one connection, and its response.
    private func exchange(_ request: URLRequest) async throws -> Final {
        guard let url = request.url else { throw URLError(.badURL) }
        self.measured.begin(request)
        let connection = try await self.connection(for: url)
        defer { self.session.pool.giveBack(connection) }
        try self.checkCancellation()
        var final = try await self.send(request, url, over: connection)
        let server = self.network.with { $0.servers[connection.endpoint] }
        for case .httpBasic(let realm) in server?.challenges ?? [] where final.response.statusCode == 401 {
            let space = URLProtectionSpace(
                host: connection.endpoint.host, port: connection.endpoint.port, protocol: url.scheme, realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let answer = try await self.answer(space)
            if answer.disposition == .cancelAuthenticationChallenge { throw URLError(.cancelled) }
            guard answer.disposition == .useCredential, let known = answer.password else { continue }
            var again = request
            let secret = Data("\(known.user):\(known.password)".utf8).base64EncodedString()
            again.setValue("Basic \(secret)", forHTTPHeaderField: "Authorization")
            final = try await self.send(again, url, over: connection)
        }
        return final
    }

    /// Sends a request, and waits for the head of its response.
    private func send(_ request: URLRequest, _ url: URL, over connection: SimulatedConnection) async throws -> Final {
        let body = try await self.body(of: request)
        self.network.receive(request, body: body, at: connection.endpoint)
        if !body.isEmpty {
            let count = Int64(body.count)
            self.task.with { $0.sent = count }
            self.measured.change { $0.bytesSent = count }
            await self.tell { run in
                run.task.listener?.urlSession(
                    run.session, task: run.task, didSendBodyData: count, totalBytesSent: count,
                    totalBytesExpectedToSend: count)
            }
        }
        let network = self.network
        let pending = Pending<SimulatedNetwork.Answer>()
        let action = self.task.onCancel { pending.finish(.failure(URLError(.cancelled))) }
        defer { self.task.forgetAction(action) }
        Task.detached { pending.finish(.success(await network.answer(for: url))) }
        let answer = try await pending.value()
        for status in answer.informational {
            guard let response = Self.response(url, status, connection, [:]) else { continue }
            await self.tell { run in
                run.task.listener?.having("URLSession:task:didReceiveInformationalResponse:")?.urlSession(
                    run.session, task: run.task, didReceiveInformationalResponse: response)
            }
        }
        if let failure = answer.failure, answer.chunks.isEmpty { throw URLError(failure) }
        guard let response = Self.response(url, answer.status, connection, answer.headers) else {
            throw URLError(.badServerResponse)
        }
        self.measured.change { values in
            values.response = response
            values.responseEnd = Date()
        }
        return Final(response: response, answer: answer)
    }

    /// The bytes of a request's body.
    private func body(of request: URLRequest) async throws -> Data {
        guard (self.task as? URLSessionUploadTask)?.isStreamed ?? false else {
            return request.httpBody ?? request.httpBodyStream.map(Self.read) ?? Data()
        }
        return try await self.ask { run, give in
            guard let listener = run.task.listener else { return give(Data()) }
            listener.urlSession(run.session, task: run.task) { stream in give(stream.map(Self.read) ?? Data()) }
        }
    }

    private static func read(_ stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return data }
            data.append(contentsOf: buffer[..<count])
        }
    }

    private static func response(
        _ url: URL, _ status: Int, _ connection: SimulatedConnection, _ headers: [String: String]
    ) -> HTTPURLResponse? {
        HTTPURLResponse(
            url: url, statusCode: status, httpVersion: connection.version == "h2" ? "HTTP/2.0" : "HTTP/1.1",
            headerFields: headers)
    }

    /// Where a response sends the request; 307 and 308 keep method and body.
    private static func redirected(_ request: URLRequest, by response: HTTPURLResponse) -> URLRequest? {
        guard self.redirectStatuses.contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"),
            let url = URL(string: location, relativeTo: request.url)?.absoluteURL
        else { return nil }
        var next = request
        next.url = url
        if response.statusCode < 307, next.httpMethod != "HEAD" {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
        }
        return next
    }
}
