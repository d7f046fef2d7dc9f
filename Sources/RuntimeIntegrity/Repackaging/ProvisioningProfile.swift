// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a provisioning profile says of who may run which app where: a property list in a signed message.
struct ProvisioningProfile: Hashable, Sendable {
    /// The teams that may sign.
    let teams: [String]
    /// Whether it names devices.
    let namesDevices: Bool
    /// Whether it is for all devices.
    let isForAllDevices: Bool
    /// What it lets an app do.
    let entitlements: Entitlements?

    /// Reads `embedded.mobileprovision` or `embedded.provisionprofile`.
    init(_ bytes: [UInt8]) throws(ImageRefusal) {
        guard bytes.count <= SignatureLimits.profileBytes else {
            throw ImageRefusal(.tooLarge, "a provisioning profile of more than \(SignatureLimits.profileBytes) bytes")
        }
        let list = try PropertyListText.read(SignedContent.read(bytes))
        self.teams = list["TeamIdentifier"]?.members?.compactMap(\.text) ?? []
        self.namesDevices = list["ProvisionedDevices"]?.members?.isEmpty == false
        self.isForAllDevices = list["ProvisionsAllDevices"] == .boolean(true)
        self.entitlements = list["Entitlements"].map { Entitlements($0) }
    }

    /// Whether it lets debuggers attach, which one for distribution does not.
    var isForDevelopment: Bool { self.entitlements?.letsDebuggersAttach ?? false }
}
