// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An IP address as its bytes: 4, or 16 that are not an IPv4-mapped address (RFC 4291, section 2.5.5.2).
///
/// Parsed here and not by the platform's resolver, which takes `127.1` and `0x7f.1` for addresses.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, in network order.
    public let bytes: [UInt8]

    /// The address that a normalised host is, or `nil` when it is a name.
    public init?(_ host: HostName) {
        guard host.isAddress else { return nil }
        let text = Array(host.description.utf8)
        guard let address = IPAddress(versionFour: text[...]) ?? IPAddress(versionSix: text) else { return nil }
        self = address
    }

    /// Reads four decimal numbers from 0 to 255 without leading zeros.
    init?(versionFour text: ArraySlice<UInt8>) {
        var bytes: [UInt8] = []
        for number in text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard bytes.count < 4, (1...3).contains(number.count),
                number.count == 1 || number.first != UInt8(ascii: "0")
            else { return nil }
            var value = 0
            for digit in number {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                value = value * 10 + Int(digit - UInt8(ascii: "0"))
            }
            guard let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
        }
        guard bytes.count == 4 else { return nil }
        self.bytes = bytes
    }

    /// Reads an IPv6 address (RFC 4291, section 2.2), with or without brackets, in lower case. No zone id.
    init?(versionSix text: [UInt8]) {
        var text = text[...]
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]") else { return nil }
            text = text.dropFirst().dropLast()
        }
        // Eight groups of four digits, or six and an IPv4 address: nothing longer is an address.
        guard text.count <= 45 else { return nil }
        let groups = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var head: [UInt8] = []
        var tail: [UInt8]?
        for (index, group) in groups.enumerated() {
            if group.isEmpty {
                let isEdge = index == 0 || index == groups.count - 1
                // "::" leaves one empty group in the middle, and a second one beside it at either end.
                if isEdge {
                    guard groups.count > 2, groups[index == 0 ? 1 : index - 1].isEmpty else { return nil }
                    continue
                }
                guard tail == nil else { return nil }
                tail = []
                continue
            }
            guard let bytes = Self.group(group, isLast: index == groups.count - 1) else { return nil }
            if tail == nil { head += bytes } else { tail? += bytes }
            guard head.count + (tail?.count ?? 0) <= 16 else { return nil }
        }
        if let tail {
            // "::" stands for at least one group (RFC 5952, section 4.2.2, writes it for two or more).
            let gap = 16 - head.count - tail.count
            guard gap >= 2 else { return nil }
            head += [UInt8](repeating: 0, count: gap) + tail
        }
        guard head.count == 16 else { return nil }
        let mapped = head.prefix(10).allSatisfy { $0 == 0 } && head[10] == 0xff && head[11] == 0xff
        self.bytes = mapped ? Array(head.suffix(4)) : head
    }

    private static func group(_ text: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
        if isLast, text.contains(UInt8(ascii: ".")) { return IPAddress(versionFour: text)?.bytes }
        guard text.count <= 4 else { return nil }
        var value: UInt16 = 0
        for digit in text {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt16(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt16(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return [UInt8(value >> 8), UInt8(value & 0xff)]
    }

    /// Four decimal numbers, or the form of RFC 5952, section 4.
    public var description: String {
        if self.bytes.count == 4 { return self.bytes.map { String($0) }.joined(separator: ".") }
        let groups = (0..<8).map { UInt16(self.bytes[2 * $0]) << 8 | UInt16(self.bytes[2 * $0 + 1]) }
        var maximum = 0..<0
        var start = 0
        while start < 8 {
            let run = groups[start...].prefix { $0 == 0 }.count
            if run > maximum.count { maximum = start..<start + run }
            start += max(run, 1)
        }
        let hexadecimal = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard maximum.count > 1 else { return hexadecimal(groups[...]) }
        return hexadecimal(groups[..<maximum.lowerBound]) + "::" + hexadecimal(groups[maximum.upperBound...])
    }
}
