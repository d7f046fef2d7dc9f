// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The list of pins that a pin is written in: that of an entry, or of a pin set.
struct PinPlace {
    /// The file.
    let file: String

    /// The member that holds the list: `pins`, or the name of a set.
    let member: YAMLValue.Member

    /// The pin set, where it is one.
    let pinSet: String?

    /// Finds the list in which an element begins at a place.
    ///
    /// - Throws: ``RepositoryError`` when the file is not what it was when it was read as a source.
    init(of position: SourcePosition, in bytes: [UInt8]) throws(RepositoryError) {
        let root = try YAMLReader.read(bytes, file: position.file)
        guard let (member, path) = Self.find(position, in: root, []) else {
            throw position.error("no pin is written here", hint: "type the command again")
        }
        self.file = position.file
        self.member = member
        self.pinSet = path.first == "pinSets" ? member.name : nil
    }

    /// The elements of the list.
    var elements: [YAMLValue] {
        guard case .sequence(let values) = self.member.value.content else { return [] }
        return values
    }

    /// Depth is bounded by the reader.
    private static func find(
        _ position: SourcePosition, in value: YAMLValue, _ path: [String]
    ) -> (YAMLValue.Member, [String])? {
        switch value.content {
        case .scalar: return nil
        case .sequence(let values):
            for value in values { if let found = self.find(position, in: value, path) { return found } }
        case .mapping(let members):
            for member in members {
                let path = path + [member.name]
                if case .sequence(let values) = member.value.content,
                    values.contains(where: { $0.position == position })
                {
                    return (member, path)
                }
                if let found = self.find(position, in: member.value, path) { return found }
            }
        }
        return nil
    }
}
