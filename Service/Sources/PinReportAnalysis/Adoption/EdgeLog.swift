// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinListMetadata

/// The log of a cache in front of the service: what it says of clients is counted as if they had asked here.
///
/// JSON Lines with `time`, `ifNoneMatch`, `status` and `path`; what is no request for a list is passed over.
package struct EdgeLog: Sendable {
    /// The maximum number of bytes of a line, as many as all fields of a request may have.
    package static let lineBytes = 16_384

    /// The number of lines that were counted.
    package private(set) var counted: Int64 = 0
    /// The number of lines about something else.
    package private(set) var others: Int64 = 0
    /// The number of lines that could not be read.
    package private(set) var unreadable: Int64 = 0

    /// The counts so far.
    package private(set) var counts: [ListRequestKey: Int64] = [:]
    /// The line that has not ended yet.
    private var rest: [UInt8] = []
    /// Whether the line is too long, and passed over to its end.
    private var isTooLong = false
    private let versions: [String: [String: Int64]]

    /// Begins to read.
    ///
    /// - Parameter versions: The versions of the lists that were published, by name and digest: others are not told
    ///   apart.
    package init(versions: [String: [String: Int64]]) { self.versions = versions }

    /// Reads the next bytes of the log, wherever they begin and end.
    package mutating func read(part: [UInt8]) {
        var lines = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let last = lines.popLast() ?? []
        for line in lines {
            self.hold(line)
            self.finish()
        }
        self.hold(last)
    }

    /// Reads what is held as the last line, which need not end with a line break.
    package mutating func finish() {
        if self.isTooLong {
            self.unreadable += 1
        } else if !self.rest.allSatisfy({ [0x20, 0x09, 0x0d].contains($0) }) {
            self.read(self.rest)
        }
        self.rest = []
        self.isTooLong = false
    }

    /// Holds a part of a line, up to the bound.
    private mutating func hold(_ part: ArraySlice<UInt8>) {
        guard !self.isTooLong, self.rest.count + part.count <= Self.lineBytes else {
            self.isTooLong = true
            self.rest = []
            return
        }
        self.rest += part
    }

    /// Reads the next line.
    package mutating func read(_ line: [UInt8]) {
        guard line.count <= Self.lineBytes, case .object(let members)? = try? JSONValue(strict: line, maximumValues: 64)
        else {
            self.unreadable += 1
            return
        }
        var texts: [String: String] = [:]
        for member in members {
            switch member.value {
            case .string(let text): texts[member.name] = text
            case .integer(let number): texts[member.name] = "\(number)"
            default: break
            }
        }
        guard let time = texts["time"].flatMap(Self.time), let status = texts["status"], let path = texts["path"] else {
            self.unreadable += 1
            return
        }
        guard status == "200" || status == "304", let name = Self.name(in: path), let versions = self.versions[name]
        else {
            self.others += 1
            return
        }
        let digest = texts["ifNoneMatch"].flatMap { EntityTag.tags(in: $0) }?.first?.digest
        let known = digest.map { versions[$0] == nil ? ListRequestKey.others : $0 } ?? ListRequestKey.nothing
        self.counts[ListRequestKey(name: name, hour: time.hour, source: .log, digest: known), default: 0] += 1
        self.counted += 1
    }

    /// The name in `/v1/lists/NAME/pins.json`, with or without a query.
    private static func name(in path: String) -> String? {
        let path = path.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[1] == "v1", parts[2] == "lists", parts[4] == "pins.json" else { return nil }
        return String(parts[3])
    }

    /// RFC 3339 in any zone, as logs have it.
    private static func time(_ text: String) -> Timestamp? {
        if let time = try? Timestamp(text) { return time }
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        return Timestamp(roundingDown: date.timeIntervalSince1970)
    }
}
