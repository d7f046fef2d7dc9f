// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Checks the signer and the identifier of the program's file: a changed app must be signed again.
///
/// It reads the signature but does not verify it. An unchanged system has done that.
public struct SignatureDetector: TamperDetector {
    /// `signature`.
    public let name = "signature"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    private let declared: DeclaredDistribution?
    private let sha256: (@Sendable ([UInt8]) -> [UInt8])?

    /// Creates the detector.
    ///
    /// - Parameter declared: The expected distribution of the app; with `nil` the detector says that it cannot evaluate.
    public init(_ declared: DeclaredDistribution?) { self.init(declared, sha256: SystemHash.sha256) }

    /// Creates the detector with a hash function; without one, hashes are not compared, and that is said.
    init(_ declared: DeclaredDistribution?, sha256: (@Sendable ([UInt8]) -> [UInt8])?) {
        self.declared = declared
        self.sha256 = sha256
    }

    /// Reads and compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let installed = try InstalledProgram(machine, declaring: self.declared)
            guard let declared = self.declared else { return }
            for part in installed.program.parts { signals += Self.signals(part.signature, declared) }
            signals = signals.reduce(into: []) { kept, signal in if !kept.contains(signal) { kept.append(signal) } }
            let bundle = try machine.bundleIdentifier()
            if bundle != declared.bundleIdentifier, !signals.contains(where: { $0.name == .otherBundle }) {
                signals.append(Self.other(.otherBundle, "the app is", bundle))
            }
            try self.compareHashes(installed.program, declared, &signals)
        }
    }

    /// The contradictions between a signature and the app's declaration.
    static func signals(_ signature: CodeSignature?, _ declared: DeclaredDistribution) -> [TamperSignal] {
        guard let signature else { return [.init(.unsignedProgram, .high, "the program has no signature")] }
        var signals: [TamperSignal] = []
        if !signature.isByCertificate {
            signals.append(.init(.unsignedProgram, .high, "the program's signature has no certificate"))
        }
        let directory = signature.directory
        let entitlements = signature.entitlements
        if directory.team != declared.team {
            signals.append(Self.other(.otherTeam, "the program was signed by", directory.team ?? "no team"))
        } else if let team = entitlements?.team, team != declared.team {
            signals.append(Self.other(.otherTeam, "the program's entitlements are those of", team))
        }
        if directory.identifier != declared.bundleIdentifier {
            signals.append(Self.other(.otherBundle, "the program was signed as", directory.identifier))
        } else if let entitlements, !entitlements.isFor(declared.bundleIdentifier) {
            let identifier = entitlements.applicationIdentifier ?? ""
            signals.append(Self.other(.otherBundle, "the program's entitlements are those of", identifier))
        }
        if entitlements?.letsDebuggersAttach == true {
            signals.append(.init(.debuggableProgram, .high, "the program lets debuggers attach (get-task-allow)"))
        }
        return signals
    }

    private static func other(_ name: SignalName, _ words: String, _ found: String) -> TamperSignal {
        // Names have no slash, so that foreign text is no path in a log.
        TamperSignal(name, .high, "\(words) \(PrintableEvidence.name(ofPath: found))")
    }

    /// Compares the hash of each part, where the app knows some and it is not signed again.
    private func compareHashes(
        _ program: SignedProgram, _ declared: DeclaredDistribution, _ signals: inout [TamperSignal]
    ) throws(ObservationError) {
        guard !declared.codeDirectoryHashes.isEmpty,
            [.adHoc, .enterprise, .developerID].contains(declared.distribution)
        else { return }
        guard let sha256 = self.sha256 else { throw ObservationError(.unsupported, "hash of the program") }
        for directory in program.parts.compactMap({ $0.signature?.directory }) {
            do throws(ImageError) {
                guard try !declared.codeDirectoryHashes.contains(directory.hash(sha256)) else { continue }
                signals.append(.init(.otherProgram, .high, "the program is not one of the builds that the app knows"))
                return
            } catch { throw ObservationError(error, "hash of the program") }
        }
    }
}

/// Looks for the provisioning profile in the app: the store removes it, an enterprise or ad hoc build needs its own.
public struct ProfileDetector: TamperDetector {
    /// `profile`.
    public let name = "profile"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    private let declared: DeclaredDistribution?

    /// Creates the detector.
    ///
    /// - Parameter declared: The expected distribution of the app; with `nil` the detector says that it cannot evaluate.
    public init(_ declared: DeclaredDistribution?) { self.declared = declared }

    /// Reads and compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
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

    /// Returns why a profile is not that of the declared app; `nil` when it may be.
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

/// Looks for the receipt that the store installs beside an app.
///
/// A weak sign: a restored device may have to ask for it again. In the store's test environment (TestFlight, the store's
/// review) there is none at first, so that its absence says nothing there.
public struct ReceiptDetector: TamperDetector {
    /// `receipt`.
    public let name = "receipt"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    private let declared: DeclaredDistribution?

    /// Creates the detector.
    ///
    /// - Parameter declared: The expected distribution of the app; with `nil` the detector says that it cannot evaluate.
    public init(_ declared: DeclaredDistribution?) { self.declared = declared }

    /// Looks for the receipt. Its contents are not read.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            guard [.store, .testFlight].contains(self.declared?.distribution ?? .store) else { return }
            _ = try InstalledProgram(machine, declaring: self.declared)
            let path = try machine.receiptPath()
            guard try !machine.exists(path) else { return }
            guard self.declared?.distribution == .store, PrintableEvidence.name(ofPath: path) == "receipt" else {
                throw ObservationError(.missing, "receipt of the store's test environment")
            }
            signals.append(.init(.missingReceipt, .low, "the app has no receipt of the store"))
        }
    }
}
