// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListRepository
import PinRotation

/// Stores a plan: in the project's file, and at the service where there is one. Both are compared before they are
/// replaced.
struct RotationKeeper {
    private let folder: RotationFolder
    private let entry: RotationFolder.Entry?
    private let service: RotationService?
    private let tag: String?

    /// Reads the stored plans of a host.
    ///
    /// - Parameters:
    ///   - entry: The plan of the project, as it was read.
    ///   - service: The address of the service, and the token.
    /// - Throws: ``CommandError`` with the exit code 1 when the service has a plan that does not lead to this one. A
    ///   service that cannot be asked is warned of.
    init(
        _ host: HostName, _ entry: RotationFolder.Entry?, _ input: SourceInput, _ service: ServiceOptions
    ) async throws(CommandError) {
        self.folder = RotationFolder(of: input.project)
        self.entry = entry
        guard let service = try RotationService(service, input.source) else {
            (self.service, self.tag) = (nil, nil)
            return
        }
        do throws(CommandError) {
            let stored = try await service.stored(host)
            if let stored, !Self.leads(stored.plan, to: entry?.plan) {
                throw CommandError(
                    .doesNotHold,
                    "the service has another plan of \(host), which is \(stored.plan.state.rawValue): "
                        + "it was changed from another place",
                    hint: "bring this checkout up to date: the plan is \(RotationFolder.path(of: host))")
            }
            (self.service, self.tag) = (service, stored?.tag)
        } catch {
            guard error.exitCode != .doesNotHold else { throw error }
            StandardError.warning("the plan is kept in the project alone: \(error.message)")
            (self.service, self.tag) = (nil, nil)
        }
    }

    /// Whether a stored plan is an earlier form of the one that is held here, or is done.
    private static func leads(_ stored: RotationPlan, to own: RotationPlan?) -> Bool {
        guard let own else { return stored.state.isFinal }
        if stored.new.pin != own.new.pin || stored.steps.first != own.steps.first { return stored.state.isFinal }
        return own.steps.starts(with: stored.steps)
    }

    /// Keeps a plan: on the service first, so that the slower of two processes has changed nothing.
    ///
    /// - Parameter isReleased: Whether a list went out with this step: then the project's file is written in any case.
    /// - Throws: ``CommandError``.
    func keep(_ plan: RotationPlan, isReleased: Bool = false) async throws(CommandError) {
        var refusal: CommandError?
        if let service {
            do throws(CommandError) { try await service.store(plan, replacing: self.tag) } catch {
                if error.exitCode == .doesNotHold {
                    refusal = error
                } else {
                    StandardError.warning("the plan is kept in the project alone: \(error.message)")
                }
            }
        }
        if let refusal, !isReleased { throw refusal }
        try CommandError.wrapping { () throws(RepositoryError) in
            try self.folder.write(plan, replacing: self.entry)
        }
        if let refusal { throw refusal }
    }
}
