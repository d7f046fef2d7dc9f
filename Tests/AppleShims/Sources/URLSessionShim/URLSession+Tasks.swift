// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension URLSession {

    /// A task for data.
    public func dataTask(with url: URL) -> URLSessionDataTask { self.dataTask(with: URLRequest(url: url)) }

    /// A task for data.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        self.adopt(URLSessionDataTask(self, request, .delegate))
    }

    /// A task for data, with a completion handler.
    public func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        self.dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task for data, with a completion handler.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        self.adopt(URLSessionDataTask(self, request, .data(completionHandler)))
    }

    /// An upload of bytes.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        self.adopt(URLSessionUploadTask(self, request.with(body: bodyData), .delegate))
    }

    /// An upload of bytes, with a completion handler.
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        self.adopt(URLSessionUploadTask(self, request.with(body: bodyData), .data(completionHandler)))
    }

    /// An upload of a file.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        self.adopt(URLSessionUploadTask(self, request.with(body: try? Data(contentsOf: fileURL)), .delegate))
    }

    /// An upload of a file, with a completion handler.
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        self.uploadTask(with: request, from: try? Data(contentsOf: fileURL), completionHandler: completionHandler)
    }

    /// An upload of what the delegate's stream gives.
    public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        let task = URLSessionUploadTask(self, request, .delegate)
        task.isStreamed = true
        return self.adopt(task)
    }

    /// A download into a file.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask { self.downloadTask(with: URLRequest(url: url)) }

    /// A download into a file.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        self.adopt(URLSessionDownloadTask(self, request, .delegate))
    }

    /// A download into a file, with a completion handler.
    public func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        self.downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A download into a file, with a completion handler.
    public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        self.adopt(URLSessionDownloadTask(self, request, .file(completionHandler)))
    }

    /// A download that goes on: here, from its beginning.
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        self.adopt(URLSessionDownloadTask(self, URLRequest(resuming: resumeData), .delegate))
    }

    /// A download that goes on, with a completion handler: here, from its beginning.
    public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        self.adopt(URLSessionDownloadTask(self, URLRequest(resuming: resumeData), .file(completionHandler)))
    }

    /// A WebSocket.
    public func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        self.webSocketTask(with: URLRequest(url: url))
    }

    /// A WebSocket.
    public func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        self.adopt(URLSessionWebSocketTask(self, request, .delegate))
    }

    /// A WebSocket, with the protocols that the app speaks over it.
    public func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        return self.webSocketTask(with: request)
    }

    /// Bytes in both directions.
    public func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        self.adopt(URLSessionStreamTask(self, SimulatedNetwork.Endpoint(hostname, port)))
    }
}

extension URLRequest {
    /// The request of a download that was cancelled: its address is all that is kept here.
    init?(resuming data: Data) {
        guard let url = URL(string: String(decoding: data, as: UTF8.self)) else { return nil }
        self.init(url: url)
    }

    /// The same request with another body.
    func with(body: Data?) -> URLRequest {
        var request = self
        request.httpBody = body ?? self.httpBody
        return request
    }
}
