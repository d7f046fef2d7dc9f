// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The code whose pages were copied, out of `/proc/self/smaps` (proc(5)), which comes in pieces.
///
/// Below the line of a mapping stand lines that begin with an upper case letter; `Anonymous:` says how many kibibytes
/// of it are no file's.
struct CopiedCode {
    /// The mappings that were read and have such pages.
    private(set) var changed: [ChangedPages] = []

    private let pageSize: UInt64
    private var region: MemoryRegion?
    private var held: [UInt8] = []

    /// Creates a reader.
    init(pageSize: UInt64) { self.pageSize = max(pageSize, 1) }

    /// Reads on.
    ///
    /// - Throws: ``Unobservable`` when a line cannot be understood.
    mutating func read(_ piece: UnsafeRawBufferPointer) throws(Unobservable) {
        for byte in piece {
            guard byte == 0x0A else {
                guard self.held.count < 2 * ObservationLimits.pathBytes else { throw Self.malformed }
                self.held.append(byte)
                continue
            }
            try self.endLine()
            self.held.removeAll(keepingCapacity: true)
        }
    }

    private static let malformed = Unobservable(.malformed, "state of mappings")
    private static let anonymous = Array("Anonymous:".utf8)

    private mutating func endLine() throws(Unobservable) {
        guard let first = self.held.first else { throw Self.malformed }
        guard (0x41...0x5A).contains(first) else {
            guard let region = self.held.withUnsafeBytes({ MemoryRegion(parsing: $0) }) else { throw Self.malformed }
            let isCode = region.permissions.contains(.execute) && !region.permissions.contains(.shared)
            self.region = isCode && region.hasFile ? region : nil
            return
        }
        guard let region = self.region, self.held.starts(with: Self.anonymous) else { return }
        let words = self.held[Self.anonymous.count...].split(separator: 0x20)
        guard words.count == 2, words[1].elementsEqual("kB".utf8),
            let kibibytes = UInt64(String(decoding: words[0], as: UTF8.self)), kibibytes <= UInt64(1) << 40
        else { throw Self.malformed }
        guard kibibytes > 0 else { return }
        guard self.changed.count < ExecutableRegions.most else { throw Unobservable(.tooLarge, "state of mappings") }
        // A page of which the system counts a part is a changed page.
        let pages = max(kibibytes * 1_024 / self.pageSize, 1)
        self.changed.append(ChangedPages(path: region.path, count: Int(pages)))
    }
}
