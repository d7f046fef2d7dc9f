// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The input and output of a command, through three pipes at once, until a deadline.
struct CommandExchange: ~Copyable {
    /// The maximum number of bytes of standard error that are kept; what is over is dropped.
    private static let maximumErrorBytes = 16_384

    private var standardInput: CommandPipe
    private var standardOutput: CommandPipe
    private var standardError: CommandPipe
    private var rest: ArraySlice<UInt8>
    private var isInputOpen = true

    /// The bytes from standard output so far.
    private(set) var output: [UInt8] = []

    /// The bytes from standard error so far.
    private(set) var errors: [UInt8] = []

    /// Makes the pipes; `nil` when the system has no descriptors left.
    init?(input: [UInt8]) {
        guard let standardInput = CommandPipe(), let standardOutput = CommandPipe(), let standardError = CommandPipe()
        else { return nil }
        self.standardInput = standardInput
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.rest = input[...]
    }

    /// The ends that the command gets, as its descriptors 0, 1 and 2.
    var theirs: [Int32] { [self.standardInput.reader, self.standardOutput.writer, self.standardError.writer] }

    /// Closes the ends that the command got: what it closes must end here, too.
    mutating func closeTheirs() {
        self.standardInput.closeReader()
        self.standardOutput.closeWriter()
        self.standardError.closeWriter()
    }

    /// Writes and reads until the command has closed both of its outputs.
    ///
    /// - Parameters:
    ///   - deadline: Nanoseconds of the monotonic clock.
    ///   - maximum: The most bytes of standard output.
    /// - Returns: The reason to end it; `nil` when its outputs are closed.
    mutating func run(until deadline: UInt64, maximumOutputBytes maximum: Int) -> ShellCommand.End? {
        var open = [self.standardOutput.reader, self.standardError.reader]
        for descriptor in open + [self.standardInput.writer] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        while !open.isEmpty {
            if self.isInputOpen, self.rest.isEmpty {
                self.standardInput.closeWriter()
                self.isInputOpen = false
            }
            let writers = self.isInputOpen ? [self.standardInput.writer] : []
            guard let ready = Self.ready(reading: open, writing: writers, until: deadline) else { return .tookTooLong }
            if self.isInputOpen, ready.contains(self.standardInput.writer) { self.write() }
            for descriptor in open where ready.contains(descriptor) {
                guard let part = Self.read(descriptor) else {
                    open.removeAll { $0 == descriptor }
                    continue
                }
                self.take(part, isOutput: descriptor == self.standardOutput.reader)
            }
            guard self.output.count <= maximum else { return .saidTooMuch }
        }
        return nil
    }

    private mutating func write() {
        let writer = self.standardInput.writer
        let count = self.rest.withUnsafeBytes { Foundation.write(writer, $0.baseAddress, $0.count) }
        if count > 0 {
            self.rest = self.rest.dropFirst(count)
        } else if errno != EAGAIN, errno != EINTR {
            // The caller may stop reading before the end.
            self.rest = []
        }
    }

    private mutating func take(_ part: [UInt8], isOutput: Bool) {
        if isOutput {
            self.output += part
        } else {
            self.errors += part.prefix(max(0, Self.maximumErrorBytes - self.errors.count))
        }
    }

    /// The available bytes of a descriptor; none when it has none yet, `nil` at its end.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var part = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(descriptor, &part, part.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? Array(part[..<count]) : nil
    }

    /// The descriptors that can be read or written, or were closed; `nil` at the deadline.
    private static func ready(reading: [Int32], writing: [Int32], until deadline: UInt64) -> Set<Int32>? {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now < deadline else { return nil }
        var polled =
            reading.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            + writing.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        let milliseconds = Int32(clamping: (deadline - now) / 1_000_000 + 1)
        guard poll(&polled, nfds_t(polled.count), milliseconds) >= 0 || errno == EINTR else { return nil }
        return Set(polled.filter { $0.revents != 0 }.map(\.fd))
    }
}
