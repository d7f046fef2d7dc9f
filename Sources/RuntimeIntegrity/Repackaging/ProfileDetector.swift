// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for the provisioning profile in the app: the store takes it away, an enterprise or ad hoc build needs its own.
public struct ProfileDetector: TamperDetector {
    /// `profile`.
    public let name = "profile"
    /// Now and then.
    public let cost = DetectorCost.occasional

    private let declared: DeclaredDistribution?

    /// Creates the detector.
    ///
    /// - Parameter declared: How the app expects to have been distributed; with `nil` it says that it cannot judge.
    public init(_ declared: DeclaredDistribution?) { self.declared = declared }

    /// Reads and compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let installed = try InstalledProgram(machine, declaring: self.declared)
            guard let declared = self.declared else { return }
            let isForMac = installed.program.isForMac
            switch installed.profile {
            case nil:
                guard [.adHoc, .enterprise].contains(declared.distribution) else { return }
                signals.append(.init(.missingProfile, .medium, "the app has no provisioning profile"))
            case .unreadable(let reason):
                if declared.distribution == .store, !isForMac { signals.append(Self.unexpected) }
                throw reason
            case .read(let profile):
                if declared.distribution == .store, !isForMac { signals.append(Self.unexpected) }
                signals += Self.reason(profile, declared).map { [.init(.otherProfile, .high, $0)] } ?? []
            }
        }
    }

    private static let unexpected = TamperSignal(
        .unexpectedProfile, .high, "an app from the store has a provisioning profile")

    /// Why a profile is not that of the declared app; `nil` when it may be.
    static func reason(_ profile: ProvisioningProfile, _ declared: DeclaredDistribution) -> String? {
        guard profile.teams.contains(declared.team) else { return "the provisioning profile is another team's" }
        if let entitlements = profile.entitlements, !entitlements.isFor(declared.bundleIdentifier) {
            return "the provisioning profile is another app's"
        }
        guard [.adHoc, .enterprise].contains(declared.distribution) else { return nil }
        guard !profile.isForDevelopment else { return "the provisioning profile is one for development" }
        if declared.distribution == .enterprise {
            return profile.isForAllDevices ? nil : "the provisioning profile is not for all devices"
        }
        return profile.namesDevices && !profile.isForAllDevices
            ? nil : "the provisioning profile names no devices, or is for all"
    }
}
