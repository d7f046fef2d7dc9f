// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SecurityShim

/// The answer to a challenge.
struct ChallengeAnswer: Sendable {
    let disposition: URLSession.AuthChallengeDisposition
    let hasCredential: Bool
    let hasTrust: Bool
    /// A name and a password.
    let password: (user: String, password: String)?

    init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        self.disposition = disposition
        self.hasCredential = credential != nil
        self.hasTrust = credential?.trust != nil
        self.password =
            if let user = credential?.user, let password = credential?.password { (user, password) } else { nil }
    }
}

extension TaskRun {
    /// The methods of connections, which the session's method is asked first.
    private static let methodsOfConnections: Set<String> = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]

    /// Asks a challenge, and records it.
    func answer(_ space: URLProtectionSpace, previousFailureCount: Int = 0) async throws -> ChallengeAnswer {
        let settings = self.network.settings
        let challenge = Carried(value: URLAuthenticationChallenge(space, previousFailureCount: previousFailureCount))
        let record = SimulatedNetwork.AskedChallenge(
            host: space.host, port: space.port, method: space.authenticationMethod, task: self.task.taskIdentifier)
        let index = self.network.with { state in
            state.challenges.append(record)
            return state.challenges.count - 1
        }
        if settings.challengesDeliveredTogether > 1 {
            await self.network.rendezvous.meet(settings.challengesDeliveredTogether)
        }
        return try await self.ask { (run, give: @escaping @Sendable (ChallengeAnswer) -> Void) in
            let level = run.deliver(challenge.value, taskDelegateFirst: settings.asksTaskDelegateFirst) {
                disposition, credential in
                let answer = ChallengeAnswer(disposition, credential)
                run.network.with { state in
                    state.challenges[index].answers += 1
                    if state.challenges[index].answers == 1 { state.challenges[index].disposition = disposition }
                }
                if !settings.cancelsDuringChallenge { give(answer) }
            }
            run.network.with { $0.challenges[index].level = level }
            if settings.cancelsDuringChallenge {
                run.task.cancel()
            } else if level == .nobody {
                give(ChallengeAnswer(.performDefaultHandling, nil))
            }
        }
    }

    /// Calls the delegate's method, and says which it was.
    private func deliver(
        _ challenge: URLAuthenticationChallenge, taskDelegateFirst: Bool,
        _ handler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> SimulatedNetwork.AskedChallenge.Level {
        let isOfConnection = Self.methodsOfConnections.contains(challenge.protectionSpace.authenticationMethod)
        func asksTask(_ delegate: (any URLSessionTaskDelegate)?) -> Bool {
            guard let delegate = delegate?.having("URLSession:task:didReceiveChallenge:completionHandler:") else {
                return false
            }
            return challenge.deliver {
                delegate.urlSession(self.session, task: self.task, didReceive: challenge, completionHandler: handler)
            }
        }
        if taskDelegateFirst, let own = self.task.delegate, asksTask(own) { return .task }
        if isOfConnection,
            let delegate = self.session.delegate?.having("URLSession:didReceiveChallenge:completionHandler:")
        {
            let isAnswered = challenge.deliver {
                if let added = delegate as? any SimulatedAddedMethod {
                    return added.addedUrlSession(self.session, didReceive: challenge, completionHandler: handler)
                }
                delegate.urlSession(self.session, didReceive: challenge, completionHandler: handler)
            }
            if isAnswered { return .session }
        }
        return asksTask(self.task.listener) ? .task : .nobody
    }
}
