// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateTransparency
import CommandLineInterface
import PinListMetadata

/// A log list in a file that a command is given: there is no default, and nothing is downloaded.
struct LogListFile: Sendable {
    /// The content of the file.
    let list: LogList
    /// The reference by which a list would name it; `nil` for a length that none may name.
    let listed: ListedLogs?
    /// Its path, as it was given.
    let path: String

    /// Reads a log list.
    ///
    /// - Throws: ``CommandError`` when the file cannot be read, or is refused as a log list.
    static func read(_ path: String) throws(CommandError) -> LogListFile {
        let bytes = try InputFile.read(path)
        do throws(LogListError) {
            return LogListFile(list: try LogList(bytes), listed: ListedLogs(of: bytes), path: path)
        } catch {
            throw CommandError(
                .undecided, "\(path): \(error)", hint: "a log list is JSON in version 3 of its format")
        }
    }

    /// Prints notes for people on a list, beside what is evaluated with it.
    static func notes(on list: LogList, named path: String, at time: Timestamp) {
        if list.isStale(at: time) {
            let made = list.timestamp.map { "of \($0)" } ?? "without a time"
            StandardError.note(
                "\(path): a log list \(made); one of over \(LogList.maximumAge / 86_400) days enforces nothing in an app"
            )
        }
        for trap in list.traps {
            StandardError.note("\(path): the private key of the log \(trap) is public; it counts as unknown")
        }
    }
}

/// The log lists of a batch: each path is read once.
actor LogListCache {
    /// The maximum number of lists that are kept; the cache is emptied when there are more.
    private static let maximumCount = 16

    private var lists: [String: LogListFile] = [:]

    /// The list in a file.
    ///
    /// - Throws: ``InputError`` when it cannot be read, or is refused.
    func list(_ path: String) throws(InputError) -> LogListFile {
        if let known = self.lists[path] { return known }
        let read: LogListFile
        do throws(CommandError) { read = try LogListFile.read(path) } catch {
            throw InputError(.policy, error.message)
        }
        if self.lists.count >= Self.maximumCount { self.lists.removeAll() }
        self.lists[path] = read
        return read
    }
}
