// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The name of a signal, in reports and policies.
///
/// A struct instead of an enum, because detectors of an app may have names of their own. Names are stable: a released
/// one never gets another meaning.
public struct SignalName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a name in characters, within that of a report's texts (formats.md, section 5).
    public static let maximumLength = 48

    /// The name, in lower case with hyphens.
    public let description: String

    /// The family. Two signals of one family are not independent.
    public let family: SignalFamily

    /// Creates a name.
    ///
    /// - Returns: `nil` when it is not of 1 to ``maximumLength`` characters of `a` to `z`, `0` to `9` and `-`.
    public init?(_ name: String, family: SignalFamily) {
        let isKnown = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
        guard isKnown, (1...Self.maximumLength).contains(name.utf8.count) else { return nil }
        self.init(known: name, family)
    }

    private init(known name: String, _ family: SignalFamily) {
        self.description = name
        self.family = family
    }
}

extension SignalName {
    /// A library is loaded that is named like an agent of a known tool.
    public static let knownAgent = Self(known: "known-agent", .injection)
    /// Code runs from memory that has no file: agents enter a process in this way without a trace on the disk.
    public static let codeWithoutFile = Self(known: "code-without-file", .injection)
    /// Code runs from a file that is deleted or replaced: an agent, or an update of the system beneath a running app.
    public static let codeOfDeletedFile = Self(known: "code-of-deleted-file", .injection)
    /// More executable memory without a file than the app declares.
    public static let anonymousCode = Self(known: "anonymous-code", .injection)
    /// The environment loads a library before all others.
    public static let preloadedLibrary = Self(known: "preloaded-library", .environment)
    /// The system's file loads a library before all others.
    public static let preloadFile = Self(known: "preload-file", .environment)
    /// Code of a file can be written to while it runs.
    public static let writableCode = Self(known: "writable-code", .code)
    /// The code of one library is mapped in slivers: the protection of a part of it was changed.
    public static let splitCode = Self(known: "split-code", .code)
    /// Pages of a file's code are no longer the file's.
    public static let changedCodePages = Self(known: "changed-code-pages", .code)
    /// Code differs from its file.
    public static let changedCode = Self(known: "changed-code", .code)
    /// A named function does not begin as in its file.
    public static let hookedFunction = Self(known: "hooked-function", .code)
    /// A call to a library leads elsewhere.
    public static let redirectedCall = Self(known: "redirected-call", .code)
    /// A call to a library leads into one that was loaded before it.
    public static let interposedCall = Self(known: "interposed-call", .environment)
    /// A named function begins with a breakpoint.
    public static let breakpoint = Self(known: "breakpoint", .code)
    /// A process traces this one.
    public static let debuggerAttached = Self(known: "debugger-attached", .debugger)
    /// The process was started by a debugger or tracer.
    public static let debuggerParent = Self(known: "debugger-parent", .debugger)
    /// More threads than the app declares.
    public static let unknownThreads = Self(known: "unknown-threads", .threads)
    /// A thread is named like one of a known tool.
    public static let agentThread = Self(known: "agent-thread", .threads)
    /// A descriptor leads to a file or pipe of a known tool.
    public static let agentDescriptor = Self(known: "agent-descriptor", .descriptors)
    /// This process holds a connection to a port of a known tool.
    public static let agentConnection = Self(known: "agent-connection", .network)
    /// A port of this machine answers like a known tool.
    public static let agentPort = Self(known: "agent-port", .network)
    /// Files of a jailbreak exist.
    public static let jailbreakFile = Self(known: "jailbreak-file", .jailbreak)
    /// Folders of the system are symbolic links.
    public static let jailbreakLink = Self(known: "jailbreak-link", .jailbreak)
    /// The sandbox allows an action that it should refuse.
    public static let sandboxOpen = Self(known: "sandbox-open", .jailbreak)
    /// An app is installed that only a jailbreak installs.
    public static let jailbreakApp = Self(known: "jailbreak-app", .jailbreak)
    /// The program's file has no signature, or one without a certificate.
    public static let unsignedProgram = Self(known: "unsigned-program", .repackaging)
    /// Another team signed the program.
    public static let otherTeam = Self(known: "other-team", .repackaging)
    /// The program has another bundle identifier.
    public static let otherBundle = Self(known: "other-bundle", .repackaging)
    /// The program is not one of the builds that the app knows by their hashes.
    public static let otherProgram = Self(known: "other-program", .repackaging)
    /// The program's signature lets debuggers attach.
    public static let debuggableProgram = Self(known: "debuggable-program", .repackaging)
    /// A provisioning profile is in an app from the store.
    public static let unexpectedProfile = Self(known: "unexpected-profile", .repackaging)
    /// The provisioning profile is another team's, another app's or of another kind.
    public static let otherProfile = Self(known: "other-profile", .repackaging)
    /// There is no provisioning profile where one is needed.
    public static let missingProfile = Self(known: "missing-profile", .repackaging)
    /// There is no receipt of the store.
    public static let missingReceipt = Self(known: "missing-receipt", .repackaging)
    /// A known-bad input was accepted.
    public static let canaryAccepted = Self(known: "canary-accepted", .canary)
    /// A known-good input was refused.
    public static let canaryRefused = Self(known: "canary-refused", .canary)

    /// All names of this module.
    public static let all: [Self] = [
        .knownAgent, .codeWithoutFile, .codeOfDeletedFile, .anonymousCode, .preloadedLibrary, .preloadFile,
        .writableCode, .splitCode, .changedCodePages, .changedCode, .hookedFunction, .redirectedCall, .interposedCall,
        .breakpoint,
        .debuggerAttached, .debuggerParent,
        .unknownThreads, .agentThread, .agentDescriptor, .agentConnection, .agentPort, .jailbreakFile,
        .jailbreakLink, .sandboxOpen, .jailbreakApp, .unsignedProgram, .otherTeam, .otherBundle, .otherProgram,
        .debuggableProgram, .unexpectedProfile, .otherProfile, .missingProfile, .missingReceipt, .canaryAccepted,
        .canaryRefused,
    ]
}

/// The family of a signal.
///
/// Two signals are independent only when their families differ: one cause (an update of a library beneath a running
/// process, a tool of the operator's own) causes several signals of one family, seldom of two.
public struct SignalFamily: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower case with hyphens.
    public let description: String

    private init(_ name: String) { self.description = name }

    /// Foreign code is in the process.
    public static let injection = Self("injection")
    /// Code that belongs here was changed.
    public static let code = Self("code")
    /// A debugger or tracer.
    public static let debugger = Self("debugger")
    /// The environment of the process's start.
    public static let environment = Self("environment")
    /// Threads that are not the app's.
    public static let threads = Self("threads")
    /// Descriptors that are not the app's.
    public static let descriptors = Self("descriptors")
    /// Ports and connections of tools.
    public static let network = Self("network")
    /// The device allows more than a device in its factory state.
    public static let jailbreak = Self("jailbreak")
    /// The program is not as it was distributed: it was repackaged.
    public static let repackaging = Self("repackaging")
    /// A known answer was wrong.
    public static let canary = Self("canary")
    /// Signals of an app's own detectors.
    public static let app = Self("app")
}
