// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// What every fetcher of this project does, each a story that `http-server.py` takes part in: the suites of
/// URLSession's and of AsyncHTTPClient's fetcher run them all.
enum FetcherStory: String, CaseIterable, CustomTestStringConvertible {
    case protocolIsKept = "does what the protocol asks for"
    case answersComeThrough = "a body, a status, a validator and Retry-After come through as they are; 5xx is an answer"
    case retryAfterIsNoNumber = "Retry-After that is no number of seconds says nothing"
    case nothingOfTheUser = "no cookies, no credentials, nothing compressed, nothing kept"
    case reportIsPosted = "a report is posted as JSON"
    case redirectedReportStaysAReport =
        "a report that is redirected arrives as the POST that it was, with its body, by each status"
    case longAnswerCounts = "of a long or endless answer to a report a little is read, and its status counts"
    case redirectsEnd = "three redirects are followed, a fourth is not, and none to http elsewhere"
    case endlessDataIsCutOff = "endless data is cut off at the limit"
    case lengthIsCounted = "a list that is one byte too long is refused, one that just fits is taken"
    case connectionBreaks = "a connection that breaks is a failure of the network"
    case cleartextIsNotAsked = "an address that is neither https nor loopback is not asked"

    var testDescription: String { self.rawValue }

    /// Tells the story.
    ///
    /// - Parameters:
    ///   - fetcher: The fetcher, with time for a slow machine.
    ///   - base: The address of the server, without a slash at its end.
    func tell(of fetcher: some ListFetcher & ReportSender, _ base: String) async throws {
        func answer(_ path: String, maximumBytes: Int = 4, _ ifNoneMatch: String? = nil) async throws -> FetchResponse {
            try await fetcher.fetch(
                FetchRequest(address: "\(base)/\(path)", maximumBytes: maximumBytes, ifNoneMatch: ifNoneMatch))
        }
        let list = FetchResponse(status: 200, body: Array("list".utf8))
        switch self {
        case .protocolIsKept: try await ProtocolCompatibility.check(fetcher, against: base)
        case .answersComeThrough:
            #expect(try await answer("list") == list)
            #expect(try await answer("list", "\"held\"") == FetchResponse(status: 304))
            #expect(try await answer("busy") == FetchResponse(status: 503, retryAfter: 17))
            #expect(try await answer("nothing").status == 404)
        case .retryAfterIsNoNumber:
            for field in ["nan", "-inf", "-1e300", "1e300", "0x1p62", "-1"] {
                #expect(try await answer("busy/\(field)") == FetchResponse(status: 503), "\(field)")
            }
        case .nothingOfTheUser:
            for _ in 0..<2 {
                let body = try await answer("headers", maximumBytes: 9_999).body
                guard case .object(let members) = try JSONValue(strict: body) else {
                    Issue.record("no headers")
                    return
                }
                let headers = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
                #expect(headers["cookie"] == nil && headers["authorization"] == nil && headers["if-none-match"] == nil)
                #expect(headers["accept-encoding"] == .string("identity"))
            }
        case .reportIsPosted:
            #expect(try await fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/v1/reports").status == 202)
        case .redirectedReportStaysAReport:
            // What is there answers a GET with 200, as if a report had been delivered.
            for status in [301, 302, 303, 307, 308] {
                let answer = try await fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/moved/\(status)")
                #expect(answer.status == 202, "\(status)")
            }
            for path in ["moved-often", "moved-elsewhere"] {
                let failure = await #expect(throws: FetchError.self, "\(path)") {
                    try await fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/\(path)")
                }
                #expect(failure?.code == .redirect, "\(path)")
            }
        case .longAnswerCounts:
            for (path, status) in [("long/200", 200), ("long/404", 404), ("long/503", 503), ("endless", 200)] {
                let answer = try await fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/\(path)")
                #expect(answer.status == status && answer.body.count <= 65_536, "\(path)")
                let asked: RetryAfter? = path == "endless" ? nil : 17
                #expect(answer.retryAfter == asked, "\(path)")
            }
        case .redirectsEnd:
            #expect(try await answer("redirect/2") == list)
            for path in ["redirect/3", "elsewhere"] {
                #expect(try await FetchError.of(fetcher, "\(base)/\(path)").code == .redirect, "\(path)")
            }
        case .endlessDataIsCutOff:
            #expect(try await FetchError.of(fetcher, "\(base)/endless").code == .tooLarge)
        case .lengthIsCounted:
            #expect(try await FetchError.of(fetcher, "\(base)/list", maximumBytes: 3).code == .tooLarge)
            #expect(try await answer("list", maximumBytes: 4) == list)
        case .connectionBreaks:
            #expect(try await FetchError.of(fetcher, "\(base)/cut").code == .network)
        case .cleartextIsNotAsked:
            #expect(try await FetchError.of(fetcher, "http://192.0.2.1/list").code == .network)
        }
    }
}

extension FetchError {
    /// The failure of a request that must fail.
    static func of(
        _ fetcher: some ListFetcher, _ address: String, maximumBytes: Int = 1_000
    ) async throws -> FetchError {
        do {
            let answer = try await fetcher.fetch(FetchRequest(address: address, maximumBytes: maximumBytes))
            Issue.record("\(address) answered \(answer.status)")
            throw CancellationError()
        } catch let failure as FetchError {
            return failure
        }
    }
}
