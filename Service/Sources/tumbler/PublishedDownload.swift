// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import PinListMetadata

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plain GET of a published list, as clients make it: https (http to loopback alone), no cookies, no credentials, at
/// most three redirects, bounded in size and time. The signature protects the list.
final class PublishedDownload: NSObject, URLSessionDataDelegate, Sendable {
    /// The longest that it may take, in seconds.
    private static let timeout = 15.0

    /// The most redirects.
    private static let maximumRedirects = 3

    private struct State {
        var bytes: [UInt8] = []
        var redirects = 0
        var refusal: String?
        var done: CheckedContinuation<(Int, String?), Never>?
    }

    private let state = NIOLockedValueBox(State())
    private let limit = MetadataLimits().listBytes

    /// Fetches the list at an address, or the `pins.json` below it.
    ///
    /// - Throws: ``CommandFailure`` with what to look at.
    static func bytes(of address: String) async throws(CommandFailure) -> [UInt8] {
        let path = address.hasSuffix(".json") ? address : address + (address.hasSuffix("/") ? "" : "/") + "pins.json"
        guard ReportAddress.isAllowed(path), let url = URL(string: path) else {
            throw CommandFailure(.usage, "\(address): not an https address", hint: "http is for loopback alone")
        }
        let download = PublishedDownload()
        let (status, failure) = await download.run(url)
        let state = download.state.withLockedValue { $0 }
        if let refusal = state.refusal ?? failure { throw CommandFailure(.undecided, "\(path): \(refusal)") }
        guard status == 200 else {
            throw CommandFailure(
                .undecided, "\(path): the server answers \(status)", hint: "the address of a list ends with its name")
        }
        return state.bytes
    }

    private func run(_ url: URL) async -> (Int, String?) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.timeout
        configuration.timeoutIntervalForResource = Self.timeout
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        return await withCheckedContinuation { continuation in
            self.state.withLockedValue { $0.done = continuation }
            session.dataTask(with: url).resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = self.state.withLockedValue { state in
            state.bytes += data
            guard state.bytes.count > self.limit else { return false }
            state.refusal = "over \(self.limit) bytes, which is more than a list may have"
            state.bytes = []
            return true
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let isAllowed = self.state.withLockedValue { state in
            state.redirects += 1
            let address = request.url?.absoluteString ?? ""
            if state.redirects > Self.maximumRedirects {
                state.refusal = "over \(Self.maximumRedirects) redirects"
            } else if !ReportAddress.isAllowed(address) {
                state.refusal = "it redirects to an address that is not https"
            }
            return state.refusal == nil
        }
        completionHandler(isAllowed ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        let failure = error.map { error in
            (error as? URLError)?.code == .timedOut ? "no answer within \(Int(Self.timeout)) s" : "no connection"
        }
        let done = self.state.withLockedValue { state in
            defer { state.done = nil }
            return state.done
        }
        done?.resume(returning: (status, failure))
    }
}
