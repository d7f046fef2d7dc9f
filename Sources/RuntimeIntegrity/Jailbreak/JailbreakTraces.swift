// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What jailbreaks leave on the file system of Apple's phones and tablets. Public knowledge; none of it is a proof.
public enum JailbreakTraces {
    /// What only a jailbreak puts there: rootful ones, then those that leave the system's volume alone.
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

    /// What every Unix has and a phone in its factory state does not.
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

    /// What is on every phone and tablet of Apple's and nowhere else: without it a shell is no trace.
    public static let phone = "/System/Library/CoreServices/SpringBoard.app"

    /// The schemes of apps that only a jailbreak installs.
    public static let schemes = ["cydia", "sileo", "zbra", "filza", "undecimus", "activator"]

    /// Folders where the sandbox lets nobody write.
    public static let forbiddenFolders = ["/private", "/", "/private/var/mobile/Library"]
}
