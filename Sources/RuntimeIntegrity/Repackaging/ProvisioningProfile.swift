// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A provisioning profile: which teams may run which app on which devices. A property list in a signed message.
struct ProvisioningProfile: Hashable, Sendable {
    /// The teams that may sign.
    let teams: [String]
    /// Whether it names devices.
    let namesDevices: Bool
    /// Whether it is for all devices.
    let isForAllDevices: Bool
    /// The entitlements that it allows.
    let entitlements: Entitlements?

    /// Reads `embedded.mobileprovision` or `embedded.provisionprofile`.
    init(_ bytes: [UInt8]) throws(ImageError) {
        guard bytes.count <= SignatureLimits.profileBytes else {
            throw ImageError(.tooLarge, "a provisioning profile of more than \(SignatureLimits.profileBytes) bytes")
        }
        let list = try PropertyListText.read(SignedContent.read(bytes))
        self.teams = list["TeamIdentifier"]?.members?.compactMap(\.text) ?? []
        self.namesDevices = list["ProvisionedDevices"]?.members?.isEmpty == false
        self.isForAllDevices = list["ProvisionsAllDevices"] == .boolean(true)
        self.entitlements = list["Entitlements"].map { Entitlements($0) }
    }

    /// Whether it lets debuggers attach, which one for distribution does not.
    var isForDevelopment: Bool { self.entitlements?.letsDebuggersAttach ?? false }
}

/// The content of a signed message (CMS, RFC 5652, section 5), in DER or in BER.
///
/// The signature is not verified: the system does that, and a profile is used here only to find defects.
struct SignedContent {
    private let bytes: [UInt8]
    private var elements = 0

    private struct Element {
        let tag: UInt8
        let content: Range<Int>
        let end: Int
    }

    /// 1.2.840.113549.1.7.2 and 1.2.840.113549.1.7.1.
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

    /// The content of a message.
    ///
    /// - Parameter bytes: The message; the caller limits its length.
    static func read(_ bytes: [UInt8]) throws(ImageError) -> [UInt8] {
        var reader = SignedContent(bytes: bytes)
        var message = try reader.child(0x30, of: 0..<bytes.count)
        try reader.expect(self.signedData, try reader.child(0x06, of: message.content))
        message = try reader.child(0xA0, of: message.content, after: 1)
        // SignedData: version, digestAlgorithms, encapContentInfo.
        let signed = try reader.child(0x30, of: message.content)
        let wrapped = try reader.child(0x30, of: signed.content, after: 2)
        try reader.expect(self.data, try reader.child(0x06, of: wrapped.content))
        let content = try reader.child(0xA0, of: wrapped.content, after: 1)
        return try reader.octets(content)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static func malformed(_ reason: String) -> ImageError {
        ImageError(.malformed, "a signed message is not understood: \(reason)")
    }

    /// An octet string in one piece, or in several.
    private mutating func octets(_ content: Element) throws(ImageError) -> [UInt8] {
        let whole = try self.element(at: content.content.lowerBound, before: content.content.upperBound, depth: 0)
        if whole.tag == 0x04 { return Array(self.bytes[whole.content]) }
        guard whole.tag == 0x24 else { throw Self.malformed("no octets") }
        var all: [UInt8] = []
        var index = whole.content.lowerBound
        while index < whole.content.upperBound {
            let piece = try self.element(at: index, before: whole.content.upperBound, depth: 0)
            guard piece.tag == 0x04 else { throw Self.malformed("octets in pieces of pieces") }
            all += self.bytes[piece.content]
            index = piece.end
        }
        return all
    }

    private func expect(_ identifier: [UInt8], _ element: Element) throws(ImageError) {
        guard self.bytes[element.content].elementsEqual(identifier) else {
            throw Self.malformed("another kind of message")
        }
    }

    /// The element with this tag after a number of others.
    private mutating func child(
        _ tag: UInt8, of content: Range<Int>, after count: Int = 0
    ) throws(ImageError) -> Element {
        var index = content.lowerBound
        for _ in 0..<count { index = try self.element(at: index, before: content.upperBound, depth: 0).end }
        let element = try self.element(at: index, before: content.upperBound, depth: 0)
        guard element.tag == tag else { throw Self.malformed("an element of another kind") }
        return element
    }

    /// The element at an index. One of indefinite length is read to its end.
    private mutating func element(at index: Int, before end: Int, depth: Int) throws(ImageError) -> Element {
        self.elements += 1
        guard depth <= SignatureLimits.depth, self.elements <= SignatureLimits.elements else {
            throw ImageError(.tooLarge, "a signed message is over a limit of depth or elements")
        }
        guard index >= 0, index < end - 1, end <= self.bytes.count else { throw Self.malformed("it is cut") }
        let tag = self.bytes[index]
        guard tag & 0x1F != 0x1F else { throw Self.malformed("a long tag") }
        let first = self.bytes[index + 1]
        if first == 0x80 {
            guard tag & 0x20 != 0 else { throw Self.malformed("octets without a length") }
            let start = index + 2
            var place = start
            while true {
                guard place <= end - 2 else { throw Self.malformed("it does not end") }
                if self.bytes[place] == 0, self.bytes[place + 1] == 0 {
                    return Element(tag: tag, content: start..<place, end: place + 2)
                }
                place = try self.element(at: place, before: end, depth: depth + 1).end
            }
        }
        var start = index + 2
        var length = Int(first)
        if first > 0x80 {
            // Four bytes could name more than a 32-bit system can count; no input is longer than three bytes can say.
            let count = Int(first & 0x7F)
            guard count <= 3, start + count <= end else { throw Self.malformed("a length that is too long") }
            length = self.bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard length <= end - start else { throw Self.malformed("it is cut") }
        return Element(tag: tag, content: start..<start + length, end: start + length)
    }
}

/// The entitlements of a program, or those that a provisioning profile allows.
struct Entitlements: Hashable, Sendable {
    /// Prefix, dot and bundle identifier; the last may end in `*`.
    let applicationIdentifier: String?
    /// The team.
    let team: String?
    /// Whether debuggers may attach (`get-task-allow` is there, and not false).
    let letsDebuggersAttach: Bool

    /// Reads them from a dictionary: under the names of phones, and under those of the Mac.
    init(_ list: PropertyListText.Value) {
        self.applicationIdentifier =
            (list["application-identifier"] ?? list["com.apple.application-identifier"])?.text
        self.team = list["com.apple.developer.team-identifier"]?.text
        self.letsDebuggersAttach = ["get-task-allow", "com.apple.security.get-task-allow"].contains {
            list[$0].map { $0 != .boolean(false) } ?? false
        }
    }

    /// Whether they are for an app with this bundle identifier; without an identifier they are for all apps.
    ///
    /// The prefix before the first dot is not looked at: that of an old app is not its team.
    func isFor(_ bundleIdentifier: String) -> Bool {
        guard let identifier = self.applicationIdentifier else { return true }
        guard let dot = identifier.utf8.firstIndex(of: 0x2E) else { return false }
        let bundle = String(identifier[identifier.utf8.index(after: dot)...])
        guard bundle.hasSuffix("*") else { return bundle == bundleIdentifier }
        return bundleIdentifier.hasPrefix(String(bundle.dropLast()))
    }
}
