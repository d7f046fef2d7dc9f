// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension SimulatedNetwork {
    /// The switches of a network.
    public struct Settings: Sendable {
        /// Whether a new connection to a known server resumes TLS, so that no challenge comes.
        public var resumption = Resumption.never
        /// Whether metrics tell the addresses of both ends.
        public var reportsEndpoints = true
        /// Whether a task is cancelled as soon as its delegate was asked a challenge.
        public var cancelsDuringChallenge = false
        /// How many challenges wait for each other before they are delivered; each test says how many will come.
        public var challengesDeliveredTogether = 1
        /// Whether a task's own delegate is asked before the session's about a challenge of a connection. Apple does
        /// not document which is first.
        public var asksTaskDelegateFirst = false
        /// Whether there is no network at first: tasks wait when their session waits for it, and fail otherwise.
        public var isOffline = false
        /// Whether all connections have the same two ends in the metrics, as behind a relay.
        public var isRelayed = false
        /// Where the metrics say that responses come from.
        public var fetchType = URLSessionTaskMetrics.ResourceFetchType.networkLoad

        /// Everything off.
        public init() {}
    }

    /// When TLS is resumed.
    public enum Resumption: Sendable {
        /// Never.
        case never
        /// In the session that was connected before.
        case withinSession
        /// In any session.
        case acrossSessions
    }

    /// A server.
    public struct Server: Sendable {
        /// What it presents: DER, the leaf first.
        public var presented: [[UInt8]]
        /// What is asked before or with a request, in this order.
        public var challenges: [Challenge]
        /// Its address, for metrics.
        public var address: String
        /// `http/1.1`, `h2` or `h3`.
        public var version: String
        /// Whether the session reaches it through a proxy, for metrics.
        public var isBehindProxy: Bool

        /// A server.
        public init(
            presented: [[UInt8]], challenges: [Challenge] = [.serverTrust], address: String = "192.0.2.1",
            version: String = "h2", isBehindProxy: Bool = false
        ) {
            self.presented = presented
            self.challenges = challenges
            self.address = address
            self.version = version
            self.isBehindProxy = isBehindProxy
        }
    }

    /// A question before a connection or a request goes on.
    public enum Challenge: Sendable, Hashable {
        /// Is the server trusted? More than one are asked one after the other, each with a trust object of its own.
        case serverTrust
        /// A certificate of the client.
        case clientCertificate
        /// A name and a password for the server.
        case httpBasic(realm: String)
        /// A name and a password for a proxy.
        case proxy(host: String, port: Int)
        /// Another method for the connection, such as NTLM.
        case other(method: String)
    }

    /// What a server answers.
    public struct Answer: Sendable {
        /// The status.
        public var status: Int
        /// The header fields.
        public var headers: [String: String]
        /// The data, as it comes.
        public var chunks: [Data]
        /// The statuses of 1xx that come before.
        public var informational: [Int] = []
        /// How the connection fails after the last chunk.
        public var failure: URLError.Code?
        /// What comes over a WebSocket once it is open.
        public var messages: [String] = []

        /// An answer.
        public init(status: Int = 200, headers: [String: String] = [:], chunks: [Data] = []) {
            self.status = status
            self.headers = headers
            self.chunks = chunks
        }

        /// An answer with a text in one piece.
        public static func text(_ text: String, status: Int = 200) -> Answer {
            Answer(
                status: status, headers: ["Content-Type": "text/plain", "Content-Length": "\(text.utf8.count)"],
                chunks: [Data(text.utf8)])
        }

        /// A redirect.
        public static func redirect(to address: String, status: Int = 302) -> Answer {
            Answer(status: status, headers: ["Location": address])
        }
    }

    /// A challenge that was asked, and its outcome.
    public struct AskedChallenge: Sendable {
        /// Who was asked.
        public enum Level: Sendable {
            /// The session's method.
            case session
            /// The method for tasks.
            case task
            /// No method: none was implemented.
            case nobody
        }

        /// The host.
        public let host: String
        /// The port.
        public let port: Int
        /// The authentication method.
        public let method: String
        /// Who was asked.
        public var level = Level.nobody
        /// How often the completion handler was called: more than once is a mistake.
        public var answers = 0
        /// What the first call said.
        public var disposition: URLSession.AuthChallengeDisposition?
        /// The number of the task.
        public let task: Int
    }
}
