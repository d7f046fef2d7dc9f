// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension URLSession {
    /// What is done about a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// The credential is used.
        case useCredential = 0
        /// As if there were no delegate.
        case performDefaultHandling = 1
        /// The request is cancelled.
        case cancelAuthenticationChallenge = 2
        /// This question is refused; the next one may be asked.
        case rejectProtectionSpace = 3
    }

    /// What is done after a response.
    public enum ResponseDisposition: Int, Sendable {
        /// The task is cancelled.
        case cancel = 0
        /// It goes on.
        case allow = 1
        /// It becomes a download.
        case becomeDownload = 2
        /// It becomes a stream.
        case becomeStream = 3
    }

    /// What is done about a task that waited.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// It goes on.
        case continueLoading = 0
        /// It goes on with another request.
        case useNewRequest = 1
        /// It is cancelled.
        case cancel = 2
    }
}
