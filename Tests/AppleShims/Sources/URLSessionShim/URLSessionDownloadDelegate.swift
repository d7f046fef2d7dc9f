// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a download tells. One method is required; the others have a default here.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The file is there, and gone when this method returns. Required.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Some of the data was written.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A download goes on where it was.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

extension URLSessionDownloadDelegate {
    /// The session's delegate, when this one is the task's own.
    private func next(_ session: URLSession, _ task: URLSessionTask) -> (any URLSessionDownloadDelegate)? {
        guard task.delegate === self, let next = session.delegate, next !== self else { return nil }
        return next as? any URLSessionDownloadDelegate
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        self.next(session, downloadTask)?.urlSession(
            session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
            totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }

    /// Not implemented: the session's delegate, or nothing. Never called by the shim.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        self.next(session, downloadTask)?.urlSession(
            session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
            expectedTotalBytes: expectedTotalBytes)
    }
}
