// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The program's file as it is installed, and the provisioning profile beside it.
struct InstalledProgram {
    /// The file.
    let program: SignedProgram
    /// The profile: `nil` where there is none.
    let profile: Profile?

    /// A profile that exists.
    enum Profile {
        case read(ProvisioningProfile)
        case unreadable(ObservationError)
    }

    /// Reads both, for an app that declares its distribution.
    ///
    /// - Throws: ``ObservationError`` where it cannot be evaluated: where nothing, or development, is declared; in a
    ///   simulator; and in a development build of the declared team, which Xcode builds from the same source.
    init(_ machine: any ObservedMachine, declaring declared: DeclaredDistribution?) throws(ObservationError) {
        guard let declared else { throw ObservationError(.missing, "declared distribution") }
        guard declared.distribution != .development else {
            throw ObservationError(.unsupported, "signature of a development build")
        }
        let path = try machine.programPath()
        let program = try Self.program(at: path, machine)
        guard !program.isForSimulator else { throw ObservationError(.unsupported, "signature in a simulator") }
        self.program = program
        self.profile = try Self.profile(of: path, isForMac: program.isForMac, machine)
        guard !self.isDevelopmentBuild(of: declared.team) else {
            throw ObservationError(.unsupported, "signature of a development build")
        }
    }

    private static func program(at path: String, _ machine: any ObservedMachine) throws(ObservationError)
        -> SignedProgram
    {
        let pieces = FilePieces()
        let file = ExecutableBytes { offset, count in
            pieces.bytes(of: 0, at: offset, count: count) { offset, count in
                try? machine.bytes(of: path, at: offset, count: count)
            }
        }
        guard file.bytes(at: 0, count: 4) != nil else { throw ObservationError(.refused, "program") }
        do throws(ImageError) {
            return try SignedProgram(file)
        } catch { throw ObservationError(error, "signature of the program") }
    }

    /// The profile lies beside the program of a phone, and one folder above the folder of a Mac's.
    private static func profile(
        of program: String, isForMac: Bool, _ machine: any ObservedMachine
    ) throws(ObservationError) -> Profile? {
        let folders = program.split(separator: "/", omittingEmptySubsequences: false).dropLast(isForMac ? 2 : 1)
        let name = isForMac ? "embedded.provisionprofile" : "embedded.mobileprovision"
        let path = folders.joined(separator: "/") + "/" + name
        do throws(ObservationError) {
            guard let bytes = try machine.contents(of: path, atMost: SignatureLimits.profileBytes) else { return nil }
            return Self.profile(bytes)
        } catch {
            // A profile that is too large to be read exists.
            guard error.code == .tooLarge else { throw error }
            return .unreadable(error)
        }
    }

    private static func profile(_ bytes: [UInt8]) -> Profile {
        do throws(ImageError) {
            return .read(try ProvisioningProfile(bytes))
        } catch { return .unreadable(ObservationError(error, "provisioning profile")) }
    }

    /// Whether a certificate of this team signed it for development, with the profile that such a build needs.
    ///
    /// The system compares the certificate with the profile. On a changed system an attacker who repackages an app may
    /// imitate that; then the answer is "not known" in place of a signal.
    private func isDevelopmentBuild(of team: String) -> Bool {
        guard case .read(let profile) = self.profile, profile.isForDevelopment, profile.namesDevices,
            profile.teams.contains(team)
        else { return false }
        return self.program.parts.allSatisfy { part in
            guard let signature = part.signature else { return false }
            return signature.isByCertificate && signature.directory.team == team
                && signature.entitlements?.letsDebuggersAttach == true
        }
    }
}

extension ObservationError {
    /// The reason why a file cannot be read.
    init(_ refusal: ImageError, _ subject: String) {
        switch refusal.code {
        case .tooLarge: self.init(.tooLarge, subject)
        case .unsupported: self.init(.unsupported, subject)
        default: self.init(.malformed, subject)
        }
    }
}

/// A program's file: for each slice the system that it was built for, and the signature.
struct SignedProgram: Sendable {
    /// A slice, or the whole file where it is not fat.
    struct Part: Sendable {
        /// The system.
        let platform: ProgramPlatform?
        /// The signature; `nil` where there is none.
        let signature: CodeSignature?
    }

    /// The parts; at least one.
    let parts: [Part]

    /// Reads a Mach-O file, thin or fat, of 64 or 32 bits.
    init(_ file: ExecutableBytes) throws(ImageError) {
        var parts: [Part] = []
        for slice in try MachOSlice.all(of: file) { parts.append(try Self.part(slice)) }
        guard !parts.isEmpty else { throw ImageError(.malformed, "a file for no architecture") }
        self.parts = parts
    }

    /// Whether a part of it was built for a simulator, which demands no certificate.
    var isForSimulator: Bool { self.parts.contains { $0.platform?.isSimulator ?? false } }

    /// Whether it runs on a Mac as a Mac's app: those have their profile elsewhere, or none.
    var isForMac: Bool { self.parts.contains { $0.platform?.isMac ?? false } }

    private static func part(_ slice: ExecutableBytes) throws(ImageError) -> Part {
        var platform: ProgramPlatform?
        var signature: CodeSignature?
        for (number, bytes) in try MachOLoadCommands(slice).all {
            switch number {
            case 0x1D:  // LC_CODE_SIGNATURE
                guard signature == nil, let offset = bytes.littleEndian(UInt32.self, at: 8),
                    let count = bytes.littleEndian(UInt32.self, at: 12)
                else { throw ImageError(.malformed, "a signature's place is missing, or occurs twice") }
                let place = slice.part(from: UInt64(offset), count: UInt64(count))
                signature = try CodeSignature(place, room: UInt64(count))
            default:
                platform = platform ?? ProgramPlatform(command: number, bytes)
            }
        }
        return Part(platform: platform, signature: signature)
    }
}
