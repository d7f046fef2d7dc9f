// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// Numbers the parts of names, equal parts alike: each name is normalised once, and two names are compared by their
/// numbers, at a cost that does not depend on their text.
struct NameParts {
    /// The work of reading, in the units of ``PathLimits/nameComparisons``: attributes and labels, and their bytes by
    /// sixteen.
    private(set) var cost = 0

    private var numbers: [[String]: Int] = [:]

    /// The labels of a host, the last one first, in lower case.
    mutating func labels(of host: some StringProtocol) -> [Int] {
        host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).reversed().map { label in
            let isUpper = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
            return self.number([String(decoding: label.map { isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)])
        }
    }

    /// A text that is compared exactly.
    mutating func literal(_ text: some StringProtocol) -> Int { self.number([String(text)]) }

    /// The steps of a directory name; `nil` in place of a step with a value that is not text.
    mutating func steps(of name: DistinguishedName) -> [Int?] { name.map { self.number(of: $0) } }

    /// Case and runs of blanks do not count (RFC 5280, section 7.1), nor does the order of the attributes in one step.
    private mutating func number(of step: RelativeDistinguishedName) -> Int? {
        var texts: Set<String> = []
        for attribute in step {
            guard let value = String(attribute.value) else { return nil }
            self.cost += 1 + value.utf8.count / 16
            let words = value.lowercased().split(whereSeparator: \.isWhitespace)
            texts.insert("\(attribute.type)=\(words.joined(separator: " "))")
        }
        return self.number(texts.sorted())
    }

    private mutating func number(_ texts: [String]) -> Int {
        self.cost += texts.reduce(1) { $0 + $1.utf8.count / 16 }
        if let known = self.numbers[texts] { return known }
        let number = self.numbers.count
        self.numbers[texts] = number
        return number
    }
}
#endif
