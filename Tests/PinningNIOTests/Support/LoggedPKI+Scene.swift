// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PinListClient
import PinListMetadata
import PinningTesting
import TestData

extension LoggedPKI {
    /// A client that holds a list which asks for the policy, and its log list.
    func scene(
        _ mode: TransparencyRule.Mode, of logs: [SigningLog]? = nil,
        configure: (inout PinningConfiguration) -> Void = { _ in }
    ) async throws -> PinnedScene {
        var entry = try PinnedScene.entry(self.host, [try self.unlogged.pin])
        entry.transparency = TransparencyRule(mode, .chrome)
        let scene = try PinnedScene([entry], roots: [self.pki.root], configure: configure)
        let time = Timestamp(secondsSince1970: TestPKI.now - 86_400).description
        let file = SigningLog.list(of: logs ?? self.logs, at: time)
        scene.lists.publish { $0.logFiles = [file] }
        try await scene.publish { $0.logs = ListedLogs(of: file) }
        return scene
    }
}
#endif
