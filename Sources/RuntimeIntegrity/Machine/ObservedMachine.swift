// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The machine and this process as detectors see them.
///
/// A protocol, so that every detector is tested on recorded observations, of attacked processes and of clean ones.
/// It changes nothing, except for the attempts of ``ObservedSandbox``, which only Apple's systems support.
public protocol ObservedMachine: ObservedMemory, ObservedProcess, ObservedNetwork, ObservedFiles, ObservedSandbox,
    ObservedInstallation
{}

/// The memory of this process.
public protocol ObservedMemory: Sendable {
    /// The executable mappings, in order.
    ///
    /// - Throws: ``ObservationError`` when the list cannot be read to its end.
    func executableRegions() throws(ObservationError) -> [MemoryRegion]

    /// For each region of code of a file, the number of its pages that are not the file's any more.
    ///
    /// A page that was written to is a copy, and stays one after the old bytes are restored.
    ///
    /// - Parameter scope: The code to look at.
    /// - Throws: ``ObservationError`` when the system does not say.
    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages]

    /// The same as ``changedPages(_:)`` of all code, by another interface of the system.
    ///
    /// - Throws: ``ObservationError`` when the system has no other way.
    func copiedCode() throws(ObservationError) -> [ChangedPages]

    /// The bytes at an address, at most ``ObservationLimits/memoryBytes``.
    ///
    /// - Throws: ``ObservationError`` when not all of them are mapped, and for more.
    func bytes(at address: UInt64, count: Int) throws(ObservationError) -> [UInt8]

    /// The bytes at each of some addresses, at most ``ObservationLimits/places`` of them.
    ///
    /// - Throws: ``ObservationError`` when one of them is not mapped.
    func bytes(at addresses: [UInt64], count: Int) throws(ObservationError) -> [[UInt8]]

    /// The paths of the libraries that the loader has loaded.
    func loadedImages() throws(ObservationError) -> [String]
}

/// Derived members.
extension ObservedMemory {
    /// Reads one place after the other.
    public func bytes(at addresses: [UInt64], count: Int) throws(ObservationError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for address in addresses { all.append(try self.bytes(at: address, count: count)) }
        return all
    }
}

/// The files of this machine.
public protocol ObservedFiles: Sendable {
    /// Whether a file exists at this path. A broken link does not count.
    func exists(_ path: String) throws(ObservationError) -> Bool

    /// The target of a symbolic link; `nil` when there is no link.
    func linkTarget(of path: String) throws(ObservationError) -> String?

    /// The bytes of a file; `nil` when there is none.
    ///
    /// - Throws: ``ObservationError`` when it cannot be read, or is larger than the limit.
    func contents(of path: String, atMost limit: Int) throws(ObservationError) -> [UInt8]?

    /// Some bytes of a file: as many as asked, or fewer at its end.
    ///
    /// - Throws: ``ObservationError`` when it cannot be read there.
    func bytes(of path: String, at offset: UInt64, count: Int) throws(ObservationError) -> [UInt8]
}

/// This process as the system shows it.
public protocol ObservedProcess: Sendable {
    /// Its tracer, and the number of its threads.
    func status() throws(ObservationError) -> ProcessStatus

    /// The names of its threads.
    func threadNames() throws(ObservationError) -> [String]

    /// The targets of its descriptors.
    func descriptors() throws(ObservationError) -> [OpenDescriptor]

    /// The environment that it was started with: later changes do not count.
    func environment() throws(ObservationError) -> [EnvironmentVariable]

    /// The name of the program that started it; `nil` for the first process of a container, which has no parent there.
    func parentName() throws(ObservationError) -> String?
}

/// The loopback network of this machine, and this process's connections.
public protocol ObservedNetwork: Sendable {
    /// The ports at the other ends of this process's TCP connections; those that came in may be left out.
    func peerPorts() throws(ObservationError) -> [UInt16]

    /// Connects to a port of 127.0.0.1, sends a request, and reads the first answer.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - request: The bytes to send.
    ///   - limit: The maximum length of the answer in bytes.
    ///   - milliseconds: The maximum time.
    /// - Returns: The answer; `nil` when nothing listens.
    /// - Throws: ``ObservationError`` when there is no answer in time.
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]?
}

/// The installation of this program.
public protocol ObservedInstallation: Sendable {
    /// The path of the program's own file.
    func programPath() throws(ObservationError) -> String

    /// The bundle identifier that its `Info.plist` gives.
    func bundleIdentifier() throws(ObservationError) -> String

    /// The path where a receipt of the store would be. Its name is `sandboxReceipt` in the store's test environment.
    func receiptPath() throws(ObservationError) -> String
}

/// Defaults for a machine without apps, such as Linux.
extension ObservedInstallation {
    /// Not known.
    public func programPath() throws(ObservationError) -> String { throw ObservationError(.unsupported, "program") }

    /// Not known.
    public func bundleIdentifier() throws(ObservationError) -> String { throw ObservationError(.unsupported, "bundle") }

    /// Not known.
    public func receiptPath() throws(ObservationError) -> String { throw ObservationError(.unsupported, "receipt") }
}

extension ObservedMachine {
    /// Whether a path is that of the program itself, whose name its makers chose.
    @inline(__always)
    func isProgram(_ path: String) -> Bool {
        #if canImport(Darwin)
        (try? self.programPath()) == path
        #else
        (try? self.linkTarget(of: "/proc/self/exe")) == path
        #endif
    }
}

/// Attempts against Apple's sandbox. All throw ``ObservationError`` where there is no such sandbox.
public protocol ObservedSandbox: Sendable {
    /// Whether a new file can be made at this path. It is removed again.
    func canWrite(at path: String) throws(ObservationError) -> Bool

    /// Whether the process can have a child.
    func canFork() throws(ObservationError) -> Bool

    /// Whether an app is installed that opens this scheme. The app lists it in `LSApplicationQueriesSchemes`.
    func canOpen(scheme: String) throws(ObservationError) -> Bool
}

/// A descriptor of this process.
public struct OpenDescriptor: Hashable, Sendable {
    /// The number.
    public let number: Int32

    /// Its target: a path, or the system's name (`socket:[1234]`, `anon_inode:[eventfd]`).
    public let target: String

    /// Creates a value.
    public init(number: Int32, target: String) {
        self.number = number
        self.target = target
    }
}

/// The limits of observations.
public enum ObservationLimits {
    /// The maximum length of the list of mappings in bytes: half of the mebibyte that this module may hold at any time.
    /// A line has about 100 bytes; measured programs (C, Swift, Python, OpenJDK) have 25 to 700.
    public static let mapsBytes = 524_288
    /// The maximum length of the status in bytes: it has about 1,500.
    public static let statusBytes = 16_384
    /// The maximum length of the environment in bytes: the kernel's limit of one string (`MAX_ARG_STRLEN`).
    public static let environmentBytes = 131_072
    /// The maximum number of threads whose names are read: apps have some dozens.
    public static let threads = 512
    /// The maximum number of descriptors: the usual limit of a process.
    public static let descriptors = 1_024
    /// The maximum number of bytes of memory that are read at once: a piece of a comparison.
    public static let memoryBytes = 65_536
    /// The maximum number of pages of code whose state is looked at: 256 MiB of code at 4 KiB a page.
    public static let codePages = 65_536
    /// The maximum number of places of memory that are read at once: the functions that are watched, and some.
    public static let places = 64
    /// The maximum length of an answer on a port in bytes: the head of an HTTP answer.
    public static let answerBytes = 1_024
    /// The maximum wait for an answer on a port of this machine, in milliseconds: loopback answers in less than one.
    public static let answerMilliseconds = 25
    /// The maximum length of a path in bytes: Linux's `PATH_MAX`.
    public static let pathBytes = 4_096
}

/// The reason why something cannot be observed.
public struct ObservationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason as a comparable value.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// It does not exist.
        public static let missing = Self("missing")
        /// The system does not allow it.
        public static let refused = Self("refused")
        /// This system has no such thing.
        public static let unsupported = Self("unsupported")
        /// It is over a limit; the rest was not looked at.
        public static let tooLarge = Self("too-large")
        /// Its contents cannot be understood.
        public static let malformed = Self("malformed")
        /// There was no answer in time.
        public static let late = Self("late")
    }

    /// The reason.
    public let code: Code

    /// The object, in a few words.
    public let subject: String

    /// Creates a failure.
    public init(_ code: Code, _ subject: String) {
        self.code = code
        self.subject = subject
    }

    /// By the code.
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    /// By the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }

    /// The object and the reason.
    public var description: String { "\(self.subject): \(self.code)" }
}
