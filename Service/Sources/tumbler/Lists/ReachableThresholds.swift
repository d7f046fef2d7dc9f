// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// Refuses a root whose thresholds some clients could never reach, as `lint` does.
enum ReachableThresholds {
    /// Expects that the algorithms of `verifiable:` reach every threshold of a root.
    ///
    /// - Parameters:
    ///   - root: The root.
    ///   - project: Whose `verifiable:` it is; without a project folder it is the default.
    ///   - allow: Whether it does not matter.
    /// - Throws: ``CommandError`` when they do not, or `tumbler.yaml` cannot be read.
    static func expect(
        of root: Root, _ project: ProjectOption, unless allow: AllowOption
    ) throws(CommandError) {
        let rule = LintRule.unverifiableThreshold
        guard let threshold = root.unreachableThresholds(verifying: try project.verifiable()).first else { return }
        let reason = "\(rule.id): root \(root.version) (\(threshold)): \(rule.reason)"
        guard !allow.rules.contains(rule.id) else { return StandardError.warning(reason) }
        throw CommandError(.doesNotHold, reason, hint: "\(rule.fix); or --allow \(rule.id)")
    }
}

extension AllowOption {
    /// Refuses any other rule than the one that a command looks at.
    func expectOnly(_ rule: LintRule) throws {
        for id in self.rules where id != rule.id {
            throw ValidationError("--allow \(id): this command looks at \(rule.id) alone")
        }
    }
}

extension ProjectOption {
    /// The algorithms that all clients can verify: `verifiable:` of the project, or the default where there is none.
    ///
    /// - Throws: ``CommandError`` when a folder was named that is none, or `tumbler.yaml` cannot be read.
    func verifiable() throws(CommandError) -> Set<MetadataKey.Algorithm> {
        let project: ProjectFolder
        do { project = try self.find() } catch {
            guard self.directory == nil else { throw error }
            return ListSource.defaultVerifiable
        }
        let name = ProjectFolder.sourceName
        return try CommandError.wrapping { () throws(RepositoryError) in
            let bytes: [UInt8]
            do throws(RepositoryError) {
                bytes = try DiskFiles(in: project.folder).bytes(of: name, limit: ListSource.maximumLength)
            } catch {
                throw RepositoryError(error.code, "\(name): \(error.reason)", hint: error.hint)
            }
            return try ListSource.verifiable(in: bytes, file: name)
        }
    }
}
