// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The pins that a source gives: by value, or as a file beside it that is hashed now.
struct SourceMaterial {
    /// The members that say which pin; exactly one of them stands in a pin.
    static let members = ["pin", "cert", "key", "publicKey", "csr"]

    /// The maximum number of bytes of such a file: a certificate in PEM has some thousand.
    static let maximumLength = 1 << 20

    /// The maximum number of files that are read: 10,000 entries with a file for each of three pins.
    private static let maximumFiles = 32_768

    private let files: any SourceFiles
    private var cache: [String: PinnedMaterial] = [:]

    init(files: some SourceFiles) { self.files = files }

    /// The pin of a mapping; for one from a file, what the file is.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    mutating func pin(_ object: SourceObject) throws(RepositoryError) -> (pin: Pin, material: PinnedMaterial?) {
        let present = object.present(among: Self.members)
        guard let member = present.first, present.count == 1 else {
            throw object.position.error(
                present.isEmpty
                    ? "there is no pin in it" : "\(present.joined(separator: " and ")) in one pin",
                hint: "write one of \(Self.members.joined(separator: ", "))")
        }
        guard let text = try object.text(member) else { throw object.missing(member, "\(member): …") }
        guard member != "pin" else { return (try Self.pin(text), nil) }
        let path = SourcePath.beside(text.position.file, text.value)
        let material = try self.material(path, member, text.position)
        return (material.pin, material)
    }

    /// A pin by its value, in the one form of signed lists.
    static func pin(_ text: Located<String>) throws(RepositoryError) -> Pin {
        do { return try Pin(canonical: text.value) } catch {
            let other = (try? Pin(text.value)).map { "write \"\($0)\"" }
            throw text.position.error(
                "not a pin: \(error.reason)", hint: other ?? "tumbler pin FILE prints the pin of what you have")
        }
    }

    private mutating func material(
        _ path: String, _ member: String, _ position: SourcePosition
    ) throws(RepositoryError) -> PinnedMaterial {
        let material: PinnedMaterial
        if let cached = self.cache[path] {
            material = cached
        } else {
            guard self.cache.count < Self.maximumFiles else {
                throw position.error("over \(Self.maximumFiles) files of pins", hint: "write pins by value")
            }
            material = try self.read(path, position)
            self.cache[path] = material
        }
        let members: [PinnedMaterial.Kind: String] = [
            .certificate: "cert", .privateKey: "key", .publicKey: "publicKey", .request: "csr",
        ]
        if let right = members[material.kind], right != member {
            let kind = material.kind.rawValue.replacing("-", with: " ")
            throw position.error("\(path) is a \(kind)", hint: "write \(right): instead of \(member):")
        }
        return material
    }

    private func read(_ path: String, _ position: SourcePosition) throws(RepositoryError) -> PinnedMaterial {
        let bytes: [UInt8]
        do { bytes = try self.files.bytes(of: path, limit: Self.maximumLength) } catch {
            throw position.error("\(path): \(error.reason)", hint: "paths begin at the folder of \(position.file)")
        }
        let materials: [PinnedMaterial]
        do { materials = try PinnedMaterial.all(in: bytes, named: path) } catch {
            throw position.error(error.reason, hint: error.hint)
        }
        guard let first = materials.first, materials.count == 1 else {
            throw position.error(
                "\(path) holds \(materials.count) certificates or keys, and one is meant",
                hint: "tumbler pin \(path) prints them; write the right one as pin:")
        }
        return first
    }
}
