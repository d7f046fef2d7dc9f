// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
public import PinListMetadata

extension ProjectFolder {
    /// The newest list, verified by the project's roots; `nil` when there is none yet.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read or does not verify; with the way back where `lists/` has one.
    public func publishedList() throws(RepositoryError) -> PinList? {
        guard let bytes = try self.newestList() else { return nil }
        let roots = try self.roots()
        do throws(RepositoryError) { return try KnownList(bytes, named: Self.listName, roots: roots).list } catch {
            throw RepositoryError(error.code, error.reason, hint: error.hint ?? self.wayBack(under: roots))
        }
    }

    /// The instruction that puts the newest list of `lists/` that counts in place of one that does not; `nil` without one.
    private func wayBack(under roots: [[UInt8]]) -> String? {
        let versions = ((try? ListHistory(of: self))?.keptVersions ?? []).sorted(by: >)
        let name = versions.lazy.map { ListHistory.name($0) }.first { name in
            guard let bytes = try? DiskFiles(in: self.folder).bytes(of: name, limit: MetadataLimits().listBytes) else {
                return false
            }
            return Self.counts(bytes, under: roots)
        }
        return name.map {
            "cp \($0) \(Self.listName) puts back the last list that counts; or have the missing signers sign"
        }
    }

    /// Whether a list has the signatures that the newest root asks for, and clients that hold that root take it.
    private static func counts(_ envelope: [UInt8], under roots: [[UInt8]]) -> Bool {
        guard var client = try? KnownList.chain(roots), (try? client.load(list: envelope)) != nil else { return false }
        return client.outside?.status == .current
    }

    /// Refuses to replace a list of `pins.json` that counts by an envelope that does not: no command of the project works with
    /// that one, and a suspension could not be released. What only adds signatures to the same list loses nothing.
    ///
    /// - Parameter envelope: The envelope that is to be written there.
    /// - Throws: ``RepositoryError`` of code `metadata`.
    package func expectWhole(_ envelope: [UInt8]) throws(RepositoryError) {
        let roots = (try? self.roots()) ?? []
        guard let before = try self.newestList(), Self.counts(before, under: roots),
            !Self.counts(envelope, under: roots)
        else { return }
        let limits = MetadataLimits()
        let held = try? Envelope(before, of: .pins, limits: limits)
        let next = try? Envelope(envelope, of: .pins, limits: limits)
        if let held, let next, held.payload == next.payload,
            Set(held.signatures.map(\.keyID)).isSubset(of: next.signatures.map(\.keyID))
        {
            return
        }
        throw RepositoryError(
            .metadata,
            "signatures are missing, and \(Self.listName) holds a list that has all of them: nothing was written",
            hint: "write it to another file (-o NAME.json), and tumbler combine all of them into \(Self.listName)")
    }
}
