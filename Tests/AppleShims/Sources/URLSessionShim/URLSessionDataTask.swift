// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A task for data. `Sendable`: because it adds nothing that changes.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// An upload. `Sendable`: because what it adds is set before it is given away.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Whether the delegate gives the body.
    var isStreamed = false
}

/// A download into a file. `Sendable`: because what it adds is set before it is given away.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Whether the file is the caller's when the task is over.
    var keepsFile = false

    /// Ends with what is needed to go on later: here, the address.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        let address = self.currentRequest?.url?.absoluteString
        self.cancel()
        self.session.delegateQueue.addOperation { completionHandler(address.map { Data($0.utf8) }) }
    }
}
