// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Repackaged and untouched apps, as they are installed.
@Suite struct RepackagingTests {
    /// An app on a device.
    private struct App {
        var program = "own-release"
        var profile: String?
        var bundle = RecordedPrograms.bundle
        var receipt = "receipt"
        var hasReceipt = true
        var isMac = false

        var machine: RecordedMachine {
            get throws {
                var machine = RecordedMachine()
                let folder = "/private/var/containers/Bundle/Application/5F3A/Bank.app"
                let program = self.isMac ? "\(folder)/Contents/MacOS/Bank" : "\(folder)/Bank"
                machine.program = program
                machine.bundle = self.bundle
                machine.receipt = "/private/var/mobile/StoreKit/\(self.receipt)"
                machine.files.contents[program] = try RecordedPrograms.bytes(self.program)
                if let profile {
                    let path = self.isMac ? "Contents/embedded.provisionprofile" : "embedded.mobileprovision"
                    machine.files.contents["\(folder)/\(path)"] = try RecordedPrograms.profile(profile)
                }
                if self.hasReceipt { machine.files.paths.insert("/private/var/mobile/StoreKit/\(self.receipt)") }
                return machine
            }
        }
    }

    private func look(
        _ app: App, as distribution: Distribution, hashes: Set<CodeDirectoryHash> = [], isDebugBuild: Bool = false
    ) throws -> Looking {
        let declared = DeclaredDistribution(
            distribution, team: RecordedPrograms.team, bundleIdentifier: RecordedPrograms.bundle,
            codeDirectoryHashes: hashes)
        var detectors = DetectorSet.repackaging(declared, isDebugBuild: isDebugBuild)
        if !isDebugBuild { detectors[0] = SignatureDetector(declared, sha256: RecordedPrograms.sha256) }
        return Looking(DetectorSet(detectors), at: try app.machine)
    }

    // MARK: Untouched apps

    @Test("an app from the store, on a phone and on a watch of 32 bits, gives no signal and no blind spot")
    func appFromTheStoreOnAPhoneAndOnAWatchOf32BitsGivesNoSignalAndNoBlindSpot() throws {
        for program in ["own-release", "own-two-hashes", "own-watch"] {
            let looking = try self.look(App(program: program), as: .store)
            #expect(looking.names.isEmpty, "\(program)")
            #expect(looking.blind.isEmpty, "\(program)")
        }
    }

    @Test(
        "an enterprise build with its own profile gives no signal",
        arguments: ["enterprise", "enterprise-in-pieces", "any-bundle"])
    func enterpriseBuildWithItsOwnProfileGivesNoSignal(_ profile: String) throws {
        for program in ["own-release", "rcodesign-enterprise"] {
            let looking = try self.look(
                App(program: program, profile: profile, hasReceipt: false), as: .enterprise,
                hashes: RecordedPrograms.hashes(program))
            #expect(looking.names.isEmpty, "\(program)")
            #expect(looking.blind.isEmpty, "\(program)")
        }
    }

    @Test("an ad hoc build with its own profile gives no signal")
    func adHocBuildWithItsOwnProfileGivesNoSignal() throws {
        let looking = try self.look(App(profile: "ad-hoc", hasReceipt: false), as: .adHoc)
        #expect(looking.names.isEmpty)
        #expect(looking.blind.isEmpty)
    }

    @Test("a Mac's program of two processors gives no signal, with a profile and without", arguments: [nil, "store"])
    func macsProgramOfTwoProcessorsGivesNoSignalWithAProfileAndWithout(_ profile: String?) throws {
        for program in ["own-mac", "rcodesign-mac"] {
            let app = App(program: program, profile: profile, isMac: true)
            for distribution in [Distribution.developerID, .store] {
                let looking = try self.look(app, as: distribution, hashes: RecordedPrograms.hashes(program))
                #expect(looking.names.isEmpty, "\(program) \(distribution)")
                #expect(looking.blind.isEmpty, "\(program) \(distribution)")
            }
        }
    }

    @Test("an app from TestFlight has no receipt at first: that is not known to be wrong", arguments: [nil, "store"])
    func appFromTestFlightHasNoReceiptAtFirstThatIsNotKnownToBeWrong(_ profile: String?) throws {
        let app = App(profile: profile, receipt: "sandboxReceipt", hasReceipt: false)
        let looking = try self.look(app, as: .testFlight)
        #expect(looking.names.isEmpty)
        #expect(looking.blind == ["receipt"])
        // The store's review has the same build as the store.
        let review = try self.look(App(receipt: "sandboxReceipt", hasReceipt: false), as: .store)
        #expect(review.names.isEmpty)
        #expect(review.blind == ["receipt"])
    }

    @Test("a simulator asks for no certificate: it gives no signal, and says that it cannot be evaluated")
    func simulatorAsksForNoCertificateItGivesNoSignalAndSaysThatItCannotBeEvaluated() throws {
        let looking = try self.look(App(program: "own-simulator", hasReceipt: false), as: .store)
        #expect(looking.names.isEmpty)
        #expect(looking.blind == ["signature", "profile", "receipt"])
    }

    @Test("a build that Xcode signed for the declared team gives no signal, and says that it cannot be evaluated")
    func buildThatXcodeSignedForTheDeclaredTeamGivesNoSignal() throws {
        let app = App(program: "own-development", profile: "development", hasReceipt: false)
        for distribution in [Distribution.store, .testFlight] {
            let looking = try self.look(app, as: distribution)
            #expect(looking.names.isEmpty)
            #expect(looking.blind == ["signature", "profile", "receipt"])
        }
    }

    @Test("a debug build is not evaluated, under any signature")
    func debugBuildIsNotEvaluatedUnderAnySignature() throws {
        for program in ["own-other-team", "own-without-certificate", "own-unsigned"] {
            let looking = try self.look(App(program: program), as: .store, isDebugBuild: true)
            #expect(looking.names.isEmpty)
            #expect(looking.blind == ["signature", "profile"])
        }
        #expect(try self.look(App(program: "own-unsigned"), as: .development).names.isEmpty)
    }

    // MARK: Repackaged apps

    @Test("an app that another team signed for itself is noticed by team, profile and what debuggers may do")
    func appThatAnotherTeamSignedForItselfIsNoticedByTeam() throws {
        let app = App(program: "own-other-team", profile: "other-team", hasReceipt: false)
        #expect(try self.look(app, as: .enterprise).names == [.otherTeam, .otherProfile, .debuggableProgram])
        #expect(
            try self.look(app, as: .store).names == [
                .otherTeam, .otherProfile, .debuggableProgram, .unexpectedProfile, .missingReceipt,
            ])
    }

    @Test("an app under another bundle identifier is noticed by its signature, or by its Info.plist alone")
    func appUnderAnotherBundleIdentifierIsNoticedByItsSignature() throws {
        let signed = App(program: "own-other-bundle", bundle: "com.example.bank.x1")
        #expect(try self.look(signed, as: .store).names == [.otherBundle])
        #expect(try self.look(App(bundle: "com.example.bank.x1"), as: .store).names == [.otherBundle])
    }

    @Test("a store build that lets debuggers attach is noticed")
    func storeBuildThatLetsDebuggersAttachIsNoticed() throws {
        for program in ["own-development", "rcodesign-debuggable"] {
            #expect(try self.look(App(program: program), as: .store).names == [.debuggableProgram], "\(program)")
        }
    }

    @Test("a program without a signature, or with one that no certificate made, is noticed")
    func programWithoutASignatureOrWithOneThatNoCertificateMadeIsNoticed() throws {
        #expect(try self.look(App(program: "own-unsigned"), as: .store).names == [.unsignedProgram])
        #expect(try self.look(App(program: "own-without-certificate"), as: .store).names == [.unsignedProgram])
        let looking = try self.look(App(program: "rcodesign-without-certificate", profile: "development"), as: .store)
        #expect(looking.names == [.unsignedProgram, .otherTeam, .debuggableProgram, .unexpectedProfile])
        #expect(looking.blind.isEmpty)
    }

    @Test("a provisioning profile in an app from the store is noticed, with any content")
    func provisioningProfileInAnAppFromTheStoreIsNoticedWithAnyContent() throws {
        for profile in ["store", "enterprise", "ad-hoc"] {
            #expect(try self.look(App(profile: profile), as: .store).names == [.unexpectedProfile], "\(profile)")
        }
        var machine = try App(profile: "store").machine
        let path = try #require(machine.files.contents.keys.first { $0.hasSuffix("embedded.mobileprovision") })
        for bytes in [[], [1, 2, 3], [UInt8](repeating: 0x30, count: SignatureLimits.profileBytes + 1)] as [[UInt8]] {
            machine.files.contents[path] = bytes
            let declared = DeclaredDistribution(
                .store, team: RecordedPrograms.team, bundleIdentifier: RecordedPrograms.bundle)
            let looking = Looking(DetectorSet([ProfileDetector(declared)]), at: machine)
            #expect(looking.names == [.unexpectedProfile])
            #expect(looking.blind == ["profile"])
        }
    }

    @Test("an enterprise or ad hoc build with no profile, or with another's, is noticed")
    func enterpriseOrAdHocBuildWithNoProfileOrWithAnothersIsNoticed() throws {
        #expect(try self.look(App(), as: .enterprise).names == [.missingProfile])
        #expect(try self.look(App(), as: .adHoc).names == [.missingProfile])
        for profile in ["other-team", "other-bundle", "ad-hoc", "store", "development"] {
            #expect(try self.look(App(profile: profile), as: .enterprise).names == [.otherProfile], "\(profile)")
        }
        for profile in ["other-team", "other-bundle", "enterprise", "store", "development"] {
            #expect(try self.look(App(profile: profile), as: .adHoc).names == [.otherProfile], "\(profile)")
        }
    }

    @Test("a program that was signed again by the same team is noticed by its hash, where the team signs last")
    func programThatWasSignedAgainByTheSameTeamIsNoticedByItsHash() throws {
        let known = try RecordedPrograms.hashes("own-release")
        let app = App(program: "rcodesign-enterprise", profile: "enterprise", hasReceipt: false)
        #expect(try self.look(app, as: .enterprise, hashes: known).names == [.otherProgram])
        // The store signs again: the hashes of its builds are not known beforehand.
        #expect(try self.look(App(program: "rcodesign-enterprise"), as: .store, hashes: known).names.isEmpty)
        // Of a fat file every part counts.
        let half = Set(try RecordedPrograms.hashes("own-mac").prefix(1))
        #expect(
            try self.look(App(program: "own-mac", isMac: true), as: .developerID, hashes: half).names == [.otherProgram]
        )
    }

    @Test("hashes that cannot be made are a blind spot and no silence")
    func hashesThatCannotBeMadeAreABlindSpotAndNoSilence() throws {
        let declared = DeclaredDistribution(
            .enterprise, team: RecordedPrograms.team, bundleIdentifier: RecordedPrograms.bundle,
            codeDirectoryHashes: try RecordedPrograms.hashes("own-release"))
        let looking = Looking(
            DetectorSet([SignatureDetector(declared, sha256: nil)]), at: try App(profile: "enterprise").machine)
        #expect(looking.names.isEmpty)
        #expect(looking.blind == ["signature"])
    }

    @Test("an app from the store without a receipt gives a weak signal")
    func appFromTheStoreWithoutAReceiptGivesAWeakSignal() throws {
        let looking = try self.look(App(hasReceipt: false), as: .store)
        #expect(looking.names == [.missingReceipt])
        #expect(looking.confidences == [.low])
        #expect(try self.look(App(profile: "enterprise", hasReceipt: false), as: .enterprise).names.isEmpty)
    }

    // MARK: What is not known

    @Test("an app that declares nothing, or whose file cannot be read, is told that nothing can be evaluated")
    func appThatDeclaresNothingOrWhoseFileCannotBeReadIsToldThatNothingCanBeEvaluated() throws {
        let undeclared = Looking(DetectorSet(DetectorSet.repackaging(nil, isDebugBuild: false)), at: try App().machine)
        #expect(undeclared.names.isEmpty)
        #expect(undeclared.blind == ["signature"])
        var machine = try App().machine
        let declared = DeclaredDistribution(
            .store, team: RecordedPrograms.team, bundleIdentifier: RecordedPrograms.bundle)
        let set = DetectorSet(DetectorSet.repackaging(declared, isDebugBuild: false))
        let path = try #require(machine.program)
        let whole = try #require(machine.files.contents[path])
        for bytes in [nil, [], Array(whole.prefix(8_300)), Array(whole.dropFirst())] as [[UInt8]?] {
            machine.files.contents[path] = bytes
            let looking = Looking(set, at: machine)
            #expect(looking.names.isEmpty)
            #expect(looking.blind == ["signature", "profile", "receipt"])
        }
        machine = try App().machine
        machine.bundle = nil
        machine.receipt = nil
        let looking = Looking(set, at: machine)
        #expect(looking.names.isEmpty)
        #expect(looking.blind == ["signature", "receipt"])
    }

    @Test("names that a stranger wrote into a signature get into evidence as one printable line without a path")
    func namesThatAStrangerWroteIntoASignatureGetIntoEvidenceAsOnePrintableLine() throws {
        var bytes = try RecordedPrograms.bytes("own-other-team")
        let name = Array("com.example.bank\0".utf8)
        let place = try #require(bytes.indices.first { $0 > 8_192 && bytes[$0...].starts(with: name) })
        bytes.replaceSubrange(place..<place + 16, with: Array("/etc\n\u{1B}[2Jéééé".utf8.prefix(16)))
        var machine = try App().machine
        machine.files.contents[try #require(machine.program)] = bytes
        let declared = DeclaredDistribution(
            .store, team: RecordedPrograms.team, bundleIdentifier: RecordedPrograms.bundle)
        let answer = SignatureDetector(declared).look(at: machine)
        let words = try #require(answer.signals.first { $0.name == .otherBundle }).evidence
        #expect(words.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(!words.contains("/"))
    }
}
