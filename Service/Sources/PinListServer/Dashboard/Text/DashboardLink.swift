// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// Addresses within the dashboard, with values from anywhere in their queries.
enum DashboardLink {
    /// The maximum number of scalars of a value: what is longer is cut, as those who read the address do.
    static let maximumValueLength = FailureFilter.maximumValueLength

    /// A path with a query; members that are empty are left out.
    static func to(_ path: String, _ query: [(name: String, value: String)] = []) -> String {
        let members = query.filter { !$0.value.isEmpty }.map {
            "\(self.encode($0.name))=\(self.encode(String($0.value.unicodeScalars.prefix(Self.maximumValueLength))))"
        }
        return members.isEmpty ? path : path + "?" + members.joined(separator: "&")
    }

    /// Percent-encoding of everything that is not unreserved (RFC 3986, section 2.3).
    static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (byte < 16 ? "0" : "") + digits
            }
        }
    }
}
