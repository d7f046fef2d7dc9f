// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Jailbreaks on recorded file systems: see `Recorded/filesystems`.
@Suite struct JailbreakTests {
    private static let detectors: [any TamperDetector] = [
        JailbreakFileDetector(), JailbreakLinkDetector(), SandboxDetector(fileName: "5f3a"), SchemeDetector(),
    ]

    private func look(_ name: String, _ change: (inout RecordedFiles) -> Void = { _ in }) throws -> Looking {
        var machine = RecordedMachine()
        machine.files = try RecordedFiles(name)
        change(&machine.files)
        return Looking(DetectorSet(Self.detectors), at: machine)
    }

    @Test("a phone in its factory state gives no signal, and what its sandbox refuses is no blind spot")
    func phoneInItsFactoryStateGivesNoSignalAndWhatItsSandboxRefusesIsNoBlindSpot() throws {
        let looking = try self.look("iphone-factory")
        #expect(looking.names.isEmpty)
        #expect(looking.blind.isEmpty)
    }

    @Test("a jailbreak that writes to the system's volume shows files, links and an open sandbox")
    func jailbreakThatWritesToTheSystemsVolumeShowsFilesLinksAndAnOpenSandbox() throws {
        #expect(try self.look("iphone-rootful").names == [.jailbreakFile, .jailbreakLink, .sandboxOpen])
    }

    @Test("a jailbreak that leaves the system's volume alone shows its own folder")
    func jailbreakThatLeavesTheSystemsVolumeAloneShowsItsOwnFolder() throws {
        #expect(try self.look("iphone-rootless").names == [.jailbreakFile])
    }

    @Test("a container with a shell, a package manager and merged folders does not look like a jailbreak")
    func containerWithAShellAPackageManagerAndMergedFoldersDoesNotLookLikeAJailbreak() throws {
        #expect(try self.look("linux-container").names.isEmpty)
    }

    @Test("a Mac where its owner may write everywhere and have children is no phone with an open sandbox")
    func macWhereItsOwnerMayWriteEverywhereAndHaveChildrenIsNoPhoneWithAnOpenSandbox() throws {
        let looking = try self.look("linux-container") { files in
            files.writableFolders = Set(JailbreakTraces.forbiddenFolders)
            files.forks = true
        }
        #expect(looking.names.isEmpty)
        #expect(looking.blind.isEmpty)
    }

    @Test("a shell alone is a trace on a phone, with less confidence than a jailbreak's own file")
    func shellAloneIsATraceOnAPhoneWithLessConfidenceThanAJailbreaksOwnFile() throws {
        let looking = try self.look("iphone-factory") { $0.paths.insert("/bin/bash") }
        #expect(looking.names == [.jailbreakFile])
        #expect(looking.confidences == [.medium])
    }

    @Test("a child, or an app that only a jailbreak installs, is noticed alone")
    func childOrAnAppThatOnlyAJailbreakInstallsIsNoticedAlone() throws {
        #expect(try self.look("iphone-factory") { $0.forks = true }.names == [.sandboxOpen])
        #expect(try self.look("iphone-factory") { $0.schemes = ["filza"] }.names == [.jailbreakApp])
    }
}
