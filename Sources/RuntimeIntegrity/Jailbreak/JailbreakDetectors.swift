// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for files of jailbreaks.
public struct JailbreakFileDetector: TamperDetector {
    /// `jailbreak-files`.
    public let name = "jailbreak-files"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks for each file. A shell or a package manager counts on a phone only: every container has them.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        let telling = self.first(of: JailbreakTraces.files, machine, &answer)
        if let telling {
            answer.signals.append(
                .init(.jailbreakFile, .high, "\(PrintableEvidence.name(ofPath: telling)) exists"))
        }
        guard self.first(of: [JailbreakTraces.phone], machine, &answer) != nil else { return answer }
        if let common = self.first(of: JailbreakTraces.unixFiles, machine, &answer) {
            answer.signals.append(
                .init(.jailbreakFile, .medium, "\(PrintableEvidence.name(ofPath: common)) exists on a phone"))
        }
        return answer
    }

    private func first(of paths: [String], _ machine: any ObservedMachine, _ answer: inout DetectorAnswer) -> String? {
        for path in paths {
            do throws(ObservationError) {
                if try machine.exists(path) { return path }
            } catch {
                // The sandbox refuses to show the file, as it should: no blind spot.
                if error.code != .refused { answer.blindSpots.append(BlindSpot(detector: self.name, reason: error)) }
            }
        }
        return nil
    }
}

/// Looks for folders of the system that are symbolic links.
public struct JailbreakLinkDetector: TamperDetector {
    /// `jailbreak-links`.
    public let name = "jailbreak-links"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at each folder, on a phone only: other systems make such links themselves.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            guard try machine.exists(JailbreakTraces.phone) else { return }
            for folder in JailbreakTraces.folders where try machine.linkTarget(of: folder) != nil {
                signals.append(.init(.jailbreakLink, .high, "\(folder) is a link"))
                return
            }
        }
    }
}

/// Asks for apps that only a jailbreak installs.
public struct SchemeDetector: TamperDetector {
    /// `schemes`.
    public let name = "schemes"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Asks for each scheme. Any app may claim a scheme: the confidence is medium.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            for scheme in JailbreakTraces.schemes where try machine.canOpen(scheme: scheme) {
                signals.append(.init(.jailbreakApp, .medium, "an app opens \(scheme) addresses"))
                return
            }
        }
    }
}

/// The traces of jailbreaks on the file system of Apple's phones and tablets. Public knowledge; none of it is a proof.
public enum JailbreakTraces {
    /// The files of jailbreaks alone: of rootful ones, then of those that do not change the system's volume.
    public static let files = [
        "/Applications/Cydia.app", "/Applications/Sileo.app", "/Applications/Zebra.app",
        "/Applications/FakeCarrier.app",
        "/Library/MobileSubstrate/MobileSubstrate.dylib", "/Library/MobileSubstrate/DynamicLibraries",
        "/usr/lib/libsubstitute.dylib", "/usr/lib/libhooker.dylib", "/usr/lib/TweakInject", "/usr/libexec/cydia",
        "/private/var/lib/cydia", "/private/var/stash", "/private/var/mobile/Library/SBSettings/Themes",
        "/.installed_unc0ver", "/.bootstrapped_electra", "/.cydia_no_stash", "/usr/lib/libjailbreak.dylib",
        "/jb/lzma", "/usr/share/jailbreak/injectme.plist",
        "/var/jb", "/var/jb/usr/bin", "/private/var/jb", "/var/jb/Library/MobileSubstrate",
        "/var/jb/.installed_dopamine",
        "/var/mobile/Library/palera1n", "/cores/binpack", "/cores/jbloader", "/var/LIB", "/var/jb/basebin",
    ]

    /// The files that every Unix has, but not a phone in its factory state.
    public static let unixFiles = [
        "/bin/bash", "/bin/sh", "/usr/sbin/sshd", "/usr/bin/ssh", "/etc/apt", "/private/var/lib/apt",
        "/etc/ssh/sshd_config",
        "/usr/bin/dpkg", "/usr/sbin/frida-server",
    ]

    /// Folders that rootful jailbreaks of older systems moved away, leaving a link.
    public static let folders = [
        "/Applications", "/Library/Ringtones", "/Library/Wallpaper", "/usr/include", "/usr/libexec", "/usr/share",
        "/usr/arm-apple-darwin9",
    ]

    /// A file of every phone and tablet of Apple's and of no other system: without it a shell is no trace.
    static let phone = "/System/Library/CoreServices/SpringBoard.app"

    /// The schemes of apps that only a jailbreak installs.
    public static let schemes = ["cydia", "sileo", "zbra", "filza", "undecimus", "activator"]

    /// Folders that the sandbox makes read-only.
    public static let forbiddenFolders = ["/private", "/", "/private/var/mobile/Library"]
}
