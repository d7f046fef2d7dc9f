// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// Provisioning profiles: a signed message around a property list, and property lists alone.
enum ProvisioningProfileBytes: FuzzTarget {
    static let name = "provision-profile"

    static func check(_ bytes: [UInt8]) {
        self.checkList(bytes)
        guard let content = try? SignedContent.read(bytes) else { return }
        precondition(content.count <= bytes.count)
        self.checkList(content)
        guard let profile = try? ProvisioningProfile(bytes) else { return }
        let declared = DeclaredDistribution(.enterprise, team: "A1B2C3D4E5", bundleIdentifier: "com.example.bank")
        // Nothing is wrong with it only where it is the team's, and for all devices.
        guard ProfileDetector.reason(profile, declared) == nil else { return }
        precondition(profile.teams.contains(declared.team) && profile.isForAllDevices && !profile.isForDevelopment)
    }

    /// A list that is read has no more than it may, and reads as the same behind a comment.
    private static func checkList(_ text: [UInt8]) {
        guard let value = try? PropertyListText.read(text) else { return }
        precondition(self.count(value, depth: 0) <= SignatureLimits.elements)
        precondition((try? PropertyListText.read(Array("<!-- x -->".utf8) + text)) == value)
    }

    private static func count(_ value: PropertyListText.Value, depth: Int) -> Int {
        precondition(depth <= SignatureLimits.depth)
        switch value {
        case .list(let members): return members.reduce(1) { $0 + self.count($1, depth: depth + 1) }
        case .dictionary(let members): return members.values.reduce(1) { $0 + self.count($1, depth: depth + 1) }
        case .text, .boolean, .other: return 1
        }
    }
}
