// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A strict reader of small XML documents in UTF-8.
///
/// It knows elements, attributes, text, comments, CDATA, and a document type without declarations. It resolves the five
/// predefined entities and numbers, and no others, so there are no external or expanding entities. Depth, elements and
/// bytes are bounded, and no function is recursive.
@_spi(Tools) public struct XMLReader {
    private let bytes: [UInt8]
    private var index = 0
    private var elements = 0

    /// Reads a document.
    ///
    /// - Throws: ``MigrationError`` with the number of the line.
    public static func read(_ bytes: [UInt8]) throws(MigrationError) -> XMLElement {
        guard bytes.count <= MigrationLimits.bytes else {
            throw MigrationError(
                .tooLarge, "XML of over \(MigrationLimits.bytes) bytes is not read",
                hint: "give the part alone that has the pins")
        }
        var reader = XMLReader(bytes: bytes)
        return try reader.document()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    private mutating func document() throws(MigrationError) -> XMLElement {
        var open: [XMLElement] = []
        var root: XMLElement?
        while self.index < self.bytes.count {
            if self.bytes[self.index] != UInt8(ascii: "<") {
                let text = try self.characters(until: UInt8(ascii: "<"))
                if open.isEmpty {
                    guard text.allSatisfy(\.isWhitespace) else {
                        throw self.error("there is text outside of the root element")
                    }
                } else {
                    open[open.count - 1].text += text
                }
            } else if self.skips("<!--") {
                try self.skip(past: "-->", "a comment")
            } else if self.skips("<![CDATA[") {
                guard !open.isEmpty else { throw self.error("there is text outside of the root element") }
                let start = self.index
                try self.skip(past: "]]>", "a CDATA section")
                open[open.count - 1].text += String(decoding: self.bytes[start..<(self.index - 3)], as: UTF8.self)
            } else if self.skips("<?") {
                try self.skip(past: "?>", "a processing instruction")
            } else if self.skips("<!") {
                guard open.isEmpty, root == nil else {
                    throw self.error("there is a declaration inside of the document")
                }
                try self.documentType()
            } else if self.skips("</") {
                let name = try self.name()
                self.skipBlanks()
                guard self.skips(">"), let element = open.popLast(), element.name == name else {
                    throw self.error("</\(name)> closes no open element")
                }
                if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
            } else {
                guard root == nil else { throw self.error("there is a second root element") }
                let (element, isEmpty) = try self.startTag()
                guard open.count < MigrationLimits.depth else { throw ConfigurationValue.tooLarge }
                if !isEmpty {
                    open.append(element)
                } else if open.isEmpty {
                    root = element
                } else {
                    open[open.count - 1].children.append(element)
                }
            }
        }
        guard let root, open.isEmpty else {
            throw self.error(open.last.map { "<\($0.name)> has no end" } ?? "there is no element in it")
        }
        return root
    }

    /// A document type, without declarations of its own.
    private mutating func documentType() throws(MigrationError) {
        var quote: UInt8?
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            self.index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw self.error("the document declares entities, which are not supported")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw self.error("the document type has no end")
    }

    private mutating func startTag() throws(MigrationError) -> (XMLElement, isEmpty: Bool) {
        self.index += 1
        self.elements += 1
        guard self.elements <= MigrationLimits.values else { throw ConfigurationValue.tooLarge }
        var element = XMLElement(name: try self.name())
        while true {
            let before = self.index
            self.skipBlanks()
            if self.skips("/>") { return (element, true) }
            if self.skips(">") { return (element, false) }
            guard self.index > before else { throw self.error("the tag <\(element.name)> is damaged") }
            let name = try self.name()
            self.skipBlanks()
            guard self.skips("=") else { throw self.error("the attribute \(name) has no value") }
            self.skipBlanks()
            guard self.index < self.bytes.count,
                [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(self.bytes[self.index])
            else { throw self.error("the value of \(name) has no quotation marks") }
            let quote = self.bytes[self.index]
            self.index += 1
            let value = try self.characters(until: quote)
            guard self.index < self.bytes.count else { throw self.error("the value of \(name) has no end") }
            self.index += 1
            guard element.attributes.updateValue(value, forKey: name) == nil, element.attributes.count <= 64 else {
                throw self.error("the attribute \(name) occurs twice, or there are too many")
            }
        }
    }

    private mutating func name() throws(MigrationError) -> String {
        let end = self.bytes[self.index...].firstIndex { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
                UInt8(ascii: "."):
                false
            default: true
            }
        }
        guard let end, end > self.index, end - self.index <= 128 else { throw self.error("there is no name after <") }
        defer { self.index = end }
        return String(decoding: self.bytes[self.index..<end], as: UTF8.self)
    }

    /// The text up to a byte, entities resolved.
    private mutating func characters(until end: UInt8) throws(MigrationError) -> String {
        var text: [UInt8] = []
        while self.index < self.bytes.count, self.bytes[self.index] != end {
            let byte = self.bytes[self.index]
            guard byte != UInt8(ascii: "<") else { throw self.error("< inside of a value") }
            guard byte != 0 else { throw self.error("a zero byte: this is not UTF-8, or not text") }
            self.index += 1
            if byte == UInt8(ascii: "&") { text += try self.entity() } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func entity() throws(MigrationError) -> [UInt8] {
        let rest = self.bytes[self.index...].prefix(12)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw self.error("& begins no entity") }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        self.index = end + 1
        let predefined = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        if let text = predefined[name] { return Array(text.utf8) }
        let isHexadecimal = name.hasPrefix("#x")
        guard name.hasPrefix("#"),
            let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
            number != 0, let scalar = Unicode.Scalar(number)
        else { throw self.error("the entity \(name) is not supported") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func skipBlanks() {
        while self.index < self.bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(self.bytes[self.index]) {
            self.index += 1
        }
    }

    private mutating func skips(_ text: StaticString) -> Bool {
        let found = text.withUTF8Buffer { self.bytes[self.index...].starts(with: $0) }
        if found { self.index += text.utf8CodeUnitCount }
        return found
    }

    private mutating func skip(past end: StaticString, _ what: String) throws(MigrationError) {
        while self.index < self.bytes.count {
            if self.skips(end) { return }
            self.index += 1
        }
        throw self.error("\(what) has no end")
    }

    private func error(_ reason: String) -> MigrationError {
        let line = self.bytes[..<min(self.index, self.bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return MigrationError(.malformed, "line \(line): \(reason)", hint: "give well-formed XML in UTF-8")
    }
}

/// An element of an XML document: the parts that the formats here need, without namespaces.
@_spi(Tools) public struct XMLElement: Hashable, Sendable {
    /// Its name, a prefix included.
    public let name: String
    /// Its attributes.
    public var attributes: [String: String] = [:]
    /// The elements in it.
    public var children: [XMLElement] = []
    /// Its own text, entities resolved.
    public var text = ""

    /// The text without blanks and line breaks around it.
    public var trimmedText: String {
        var text = self.text[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    /// An attribute by its name, or by its name after any prefix.
    public func attribute(_ name: String) -> String? {
        self.attributes[name] ?? self.attributes.first { $0.key.hasSuffix(":\(name)") }?.value
    }
}
