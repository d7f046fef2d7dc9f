// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
public import PinRotation

extension RotationPlan {
    /// Reads `rotations/HOST.yaml`.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, at most ``RotationPlan/maximumLength``.
    ///   - file: The name that errors begin with.
    /// - Throws: ``RepositoryError`` with line and column; of the code `newer-plan` for a plan of a newer tool.
    public init(yaml bytes: [UInt8], file: String) throws(RepositoryError) {
        guard bytes.count <= Self.maximumLength else {
            throw RepositoryError(.source, "\(file): over \(Self.maximumLength >> 20) MiB, which is more than is read")
        }
        let root = try YAMLReader.read(bytes, file: file)
        var places: [String: SourcePosition] = [:]
        let value = Self.json(of: root, "", &places)
        do throws(RotationPlanError) { try self.init(reading: value) } catch {
            // A missing member has no position: the object's is taken.
            var path = error.path
            while !path.isEmpty, places[path] == nil {
                path = String(path.prefix(upTo: path.lastIndex { $0 == "." || $0 == "[" } ?? path.startIndex))
            }
            let position = places[path] ?? root.position
            guard error.code != .newerSchema else {
                throw RepositoryError(
                    .newerPlan, "\(position): \(error)", hint: "update tumbler; this file was left as it is")
            }
            throw position.error("\(error)", hint: "restore the file from version control, or mend this member")
        }
    }

    /// A value of YAML as one of JSON, with the place of each. Plain digits are numbers, plain
    /// `true` and `false` are flags, and all else is text.
    private static func json(
        of value: YAMLValue, _ path: String, _ places: inout [String: SourcePosition]
    ) -> JSONValue {
        if places[path] == nil { places[path] = value.position }
        switch value.content {
        case _ where value.isEmpty: return .null
        case .scalar(let text, let isPlain):
            let isNumber = (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            if isPlain, isNumber, text.utf8.count == 1 || text.utf8.first != 0x30, let number = Int64(text) {
                return .integer(number)
            }
            if isPlain, text == "true" || text == "false" { return .bool(text == "true") }
            return .string(text)
        case .sequence(let values):
            return .array(values.enumerated().map { self.json(of: $0.element, "\(path)[\($0.offset)]", &places) })
        case .mapping(let members):
            return .object(
                members.map { member in
                    let name = path.isEmpty ? member.name : "\(path).\(member.name)"
                    places[name] = member.position
                    return JSONValue.Member(member.name, self.json(of: member.value, name, &places))
                })
        }
    }

    /// The plan as a file for people: the same members as in JSON, in the same order.
    public var yaml: [UInt8] {
        var lines = [
            "# The rotation of a key. tumbler rotate status \(self.host) says where it stands.",
            "# Written by tumbler rotate. Dates, kept and heldBy may be edited; comments are not kept.",
        ]
        guard case .object(let members) = self.json else { return [] }
        lines += YAMLWriter.lines(members, isPlain: Self.isPlain)
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Whether a text reads back as itself without quotation marks, by this reader and by others: names with a dot, the
    /// states, and times.
    private static func isPlain(_ text: String) -> Bool {
        if RotationState(rawValue: text) != nil || (try? Timestamp(text)) != nil { return true }
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte) }
        return text.utf8.contains(UInt8(ascii: ".")) && text.utf8.first.map(isLetter) == true
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || ".-".utf8.contains($0) }
    }
}
