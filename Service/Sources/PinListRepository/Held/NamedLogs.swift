// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificateTransparency
public import PinListMetadata
public import PinRotation

/// The log lists of Certificate Transparency that some lists name, as far as they are at hand.
public struct NamedLogs: Sendable {
    /// The log lists, by the digest that lists name them with.
    private var files: [String: LogList] = [:]

    /// States none.
    public init() {}

    /// Reads the log lists that some lists name, each once.
    ///
    /// - Parameters:
    ///   - lists: The lists.
    ///   - project: The project that keeps log lists in `logs/`; `nil` where there is none.
    public init(of lists: [PinList], in project: ProjectFolder?) {
        for listed in Set(lists.compactMap(\.logs)) {
            guard let bytes = try? project?.logs(listed) else { continue }
            self.files[listed.digest] = try? LogList(bytes)
        }
    }

    /// Adds the file that a list names, where it is that file and can be read.
    public mutating func add(_ bytes: [UInt8], as listed: ListedLogs) {
        guard listed.isFile(bytes), let logs = try? LogList(bytes) else { return }
        self.files[listed.digest] = logs
    }

    /// The log list that a list names.
    public func logs(of list: PinList) -> KnownLogs {
        guard let listed = list.logs else { return .notAsked }
        return self.files[listed.digest].map { .known($0) } ?? .missing
    }
}
