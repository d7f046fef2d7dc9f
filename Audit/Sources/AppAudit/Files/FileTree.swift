// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AppArtifacts
@_spi(Tools) internal import CertificatePinning
internal import Foundation

/// The files under the paths that an audit was asked for.
///
/// Links are not followed: one that leads out of the tree, or to itself, is a line; what it leads to inside of it is seen
/// where it is. Hidden folders, and tests unless they are asked for, are left out, and that is said.
public struct FileTree {
    /// The most of everything.
    public enum Limits {
        /// Files that are looked at by their names.
        public static let files = 1_000_000
        /// Folders within each other.
        public static let depth = 64
    }

    private let includesTests: Bool
    private var seen = 0
    private var tests = 0
    private var hidden = 0

    /// Says what is read.
    ///
    /// - Parameter includesTests: Whether folders named for tests are, too.
    public init(includesTests: Bool) { self.includesTests = includesTests }

    /// Hands the files of a path to an audit.
    ///
    /// - Returns: Whether there is anything at the path.
    public mutating func walk(_ path: String, into auditor: inout Auditor) -> Bool {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        // The path itself may be a link: the one who asked chose it.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let type = Self.type(of: target), type == .typeDirectory || type == .typeRegular else { return false }
        if type == .typeRegular {
            // Whoever names one resource alone need not name its folder.
            let other: Auditor.Kind = path.lowercased().hasSuffix(".xml") ? .resource : .program
            self.add(target, shown: path, Auditor.Kind(name: path) ?? other, &auditor)
        } else {
            self.walk(folder: target, shown: path, &auditor)
        }
        return true
    }

    /// Says what was left out.
    public func finish(_ auditor: inout Auditor) {
        if self.tests > 0 { auditor.note("\(self.tests) folders of tests were left out; --tests audits them") }
        if self.hidden > 0 {
            auditor.note(
                "\(self.hidden) folders that are hidden, or of documentation or tools, were left out; name one to audit it"
            )
        }
    }

    private static func type(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// Goes through a folder with its own stack.
    private mutating func walk(folder: String, shown: String, _ auditor: inout Auditor) {
        var open = [(path: folder, shown: shown, depth: 0)]
        while let (path, shown, depth) = open.popLast() {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
                auditor.note(unread: shown, "the folder cannot be read")
                continue
            }
            guard depth < Limits.depth else {
                auditor.note(unread: shown, "folders are over \(Limits.depth) deep")
                continue
            }
            for name in names.sorted(by: >) {
                self.seen += 1
                guard self.seen <= Limits.files else {
                    auditor.note(unread: shown, "there are over \(Limits.files) files: the rest is left out")
                    return
                }
                let child = "\(path)/\(name)"
                let printed = PrintableText.line(shown == "." ? name : "\(shown)/\(name)")
                switch Self.type(of: child) {
                case .typeDirectory?:
                    if self.isLeftOut(name) { continue }
                    open.append((child, printed, depth + 1))
                case .typeSymbolicLink?: Self.lookAtLink(child, printed, within: folder, &auditor)
                case .typeRegular?:
                    if let kind = Auditor.Kind(name: child) { self.add(child, shown: printed, kind, &auditor) }
                case nil:
                    auditor.note(
                        unread: printed,
                        "it cannot be looked at: its folder may not be entered, or its path is too long")
                // Sockets and the like.
                default: break
                }
            }
        }
    }

    private mutating func isLeftOut(_ name: String) -> Bool {
        if name.hasPrefix(".") {
            self.hidden += 1
            return true
        }
        let lower = name.lowercased()
        if lower == "deriveddata" || lower == "node_modules" || lower.hasSuffix(".docc") {
            self.hidden += 1
            return true
        }
        guard !self.includesTests else { return false }
        let isTests =
            ["tests", "test", "androidtest", "uitests", "specs", "spec"].contains(lower) || name.hasSuffix("Tests")
            || name.hasSuffix("UITests")
        if isTests { self.tests += 1 }
        return isTests
    }

    private static func lookAtLink(_ path: String, _ shown: String, within folder: String, _ auditor: inout Auditor) {
        // `..` and further links are resolved by the system, which knows of loops.
        guard let target = realpath(path, nil) else {
            auditor.note("\(shown): a link that leads to itself or nowhere; it is not followed")
            return
        }
        defer { free(target) }
        let resolved = String(cString: target)
        if resolved != folder, !resolved.hasPrefix(folder + "/") {
            auditor.note("\(shown): a link that leads out of what is audited; it is not followed")
        }
    }

    private mutating func add(_ path: String, shown: String, _ kind: Auditor.Kind, _ auditor: inout Auditor) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            return auditor.note(unread: shown, "the file cannot be opened")
        }
        defer { try? file.close() }
        // Only what begins as a program is read as one.
        if kind == .program {
            do {
                guard let head = try file.read(upToCount: 8), MachOFile.begins(head) else { return }
            } catch {
                return auditor.note(unread: shown, "the file cannot be read")
            }
        }
        // What is too large is not read at all.
        if let size = try? file.seekToEnd(), size > UInt64(kind.limit) {
            return auditor.note(unread: shown, "it has over \(kind.limit) bytes, which is more than is read")
        }
        try? file.seek(toOffset: 0)
        guard let bytes = try? BoundedBytes.read(upTo: kind.limit, { try file.read(upToCount: $0) }) else {
            return auditor.note(unread: shown, "the file cannot be read")
        }
        guard bytes.count <= kind.limit else {
            return auditor.note(unread: shown, "it has over \(kind.limit) bytes, which is more than is read")
        }
        auditor.add(shown, kind, bytes)
    }
}
