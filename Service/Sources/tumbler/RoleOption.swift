// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListMetadata

/// `ROLE=VALUE` on the command line; the role is `root` or `pins`.
struct RoleOption: ExpressibleByArgument {
    /// The role.
    let kind: MetadataRefusal.Kind

    /// What follows.
    let value: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let kind = MetadataRefusal.Kind(rawValue: String(parts[0])) else { return nil }
        self.kind = kind
        self.value = String(parts[1])
    }
}
