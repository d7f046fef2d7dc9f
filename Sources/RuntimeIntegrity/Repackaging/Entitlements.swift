// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a program may do, or what a provisioning profile lets a program do.
struct Entitlements: Hashable, Sendable {
    /// Prefix, dot and bundle identifier; the last may end in `*`.
    let applicationIdentifier: String?
    /// The team.
    let team: String?
    /// Whether debuggers may attach (`get-task-allow` is there, and not false).
    let letsDebuggersAttach: Bool

    /// Takes them out of a dictionary: under the names of phones, and under those of the Mac.
    init(_ list: PropertyListText.Value) {
        self.applicationIdentifier =
            (list["application-identifier"] ?? list["com.apple.application-identifier"])?.text
        self.team = list["com.apple.developer.team-identifier"]?.text
        self.letsDebuggersAttach = ["get-task-allow", "com.apple.security.get-task-allow"].contains {
            list[$0].map { $0 != .boolean(false) } ?? false
        }
    }

    /// Whether an app with this bundle identifier is meant; what names none means all.
    ///
    /// The prefix before the first dot is not looked at: that of an old app is not its team.
    func isFor(_ bundleIdentifier: String) -> Bool {
        guard let identifier = self.applicationIdentifier else { return true }
        guard let dot = identifier.utf8.firstIndex(of: 0x2E) else { return false }
        let bundle = String(identifier[identifier.utf8.index(after: dot)...])
        guard bundle.hasSuffix("*") else { return bundle == bundleIdentifier }
        return bundleIdentifier.hasPrefix(String(bundle.dropLast()))
    }
}
