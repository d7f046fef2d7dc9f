// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A pipe to or from a command; no other process inherits its ends.
struct CommandPipe: ~Copyable {
    let reader: Int32
    let writer: Int32
    private var isReaderOpen = true
    private var isWriterOpen = true

    /// Makes a pipe; `nil` when the system has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        // A sibling that is started between these two lines keeps an end until it is done; that delays, no more.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.reader = ends[0]
        self.writer = ends[1]
    }

    deinit {
        if self.isReaderOpen { close(self.reader) }
        if self.isWriterOpen { close(self.writer) }
    }

    /// Closes the end that is read.
    mutating func closeReader() {
        if self.isReaderOpen { close(self.reader) }
        self.isReaderOpen = false
    }

    /// Closes the writing end: the reader sees the end.
    mutating func closeWriter() {
        if self.isWriterOpen { close(self.writer) }
        self.isWriterOpen = false
    }
}
