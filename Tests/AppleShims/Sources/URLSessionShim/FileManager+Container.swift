// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension FileManager {
    /// The folder that an app and its extensions share; `nil` when the app is not entitled to it.
    ///
    /// Here, a folder in the temporary one, for every name that begins with "group.".
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        guard groupIdentifier.hasPrefix("group.") else { return nil }
        let container = self.temporaryDirectory.appendingPathComponent("shim-containers")
            .appendingPathComponent(groupIdentifier)
        try? self.createDirectory(at: container, withIntermediateDirectories: true)
        return container
    }
}
