// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What detectors can see of the machine and of this process.
///
/// A protocol, so that every detector is tested on recorded observations, of attacked processes and of clean ones.
/// Nothing here changes anything, but for the questions of ``ObservedSandbox``, which only Apple's systems answer.
public protocol ObservedMachine: ObservedMemory, ObservedProcess, ObservedNetwork, ObservedFiles, ObservedSandbox,
    ObservedInstallation
{}

/// The memory of this process.
public protocol ObservedMemory: Sendable {
    /// What is mapped and can be executed, in order.
    ///
    /// - Throws: ``ObservationError`` when it cannot be read, or not to its end.
    func executableRegions() throws(ObservationError) -> [MemoryRegion]

    /// Of each region of code that is mapped from a file: how many of its pages are not the file's any more.
    ///
    /// A page that was written to is a copy, and stays one after the old bytes are put back.
    ///
    /// - Parameter scope: Which code.
    /// - Throws: ``ObservationError`` when the system does not say.
    func changedPages(_ scope: PageScope) throws(ObservationError) -> [ChangedPages]

    /// The same as ``changedPages(_:)`` of all code, asked for in another way.
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

/// What follows from the rest.
extension ObservedMemory {
    /// One after the other.
    public func bytes(at addresses: [UInt64], count: Int) throws(ObservationError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for address in addresses { all.append(try self.bytes(at: address, count: count)) }
        return all
    }
}

/// The files of this machine.
public protocol ObservedFiles: Sendable {
    /// Whether there is something at this path. A link that leads nowhere is nothing.
    func exists(_ path: String) throws(ObservationError) -> Bool

    /// Where a symbolic link leads; `nil` when it is none, or nothing is there.
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

/// This process as the system sees it.
public protocol ObservedProcess: Sendable {
    /// Who traces it, and how many threads it has.
    func status() throws(ObservationError) -> ProcessStatus

    /// The names of its threads.
    func threadNames() throws(ObservationError) -> [String]

    /// What its descriptors lead to.
    func descriptors() throws(ObservationError) -> [OpenDescriptor]

    /// The environment that it was started with: what was changed since, by itself or others, does not count.
    func environment() throws(ObservationError) -> [EnvironmentVariable]

    /// The name of the program that started it; `nil` for the first process of a container, which has none there.
    func parentName() throws(ObservationError) -> String?
}

/// The loopback network of this machine, and this process's connections.
public protocol ObservedNetwork: Sendable {
    /// The ports at the other ends of this process's TCP connections.
    func peerPorts() throws(ObservationError) -> [UInt16]

    /// Connects to a port of 127.0.0.1, says something, and hears the first answer.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - request: What is said.
    ///   - limit: The most bytes that are heard.
    ///   - milliseconds: The most time for all of it.
    /// - Returns: The answer; `nil` when nobody listens.
    /// - Throws: ``ObservationError`` when nobody says anything in time.
    func answer(
        onLoopbackPort port: UInt16, to request: [UInt8], atMost limit: Int, milliseconds: Int
    ) throws(ObservationError) -> [UInt8]?
}

/// How this program was installed.
public protocol ObservedInstallation: Sendable {
    /// The path of the program's own file.
    func programPath() throws(ObservationError) -> String

    /// The bundle identifier that its `Info.plist` gives.
    func bundleIdentifier() throws(ObservationError) -> String

    /// Where a receipt of the store would be. Its name is `sandboxReceipt` in the store's test environment.
    func receiptPath() throws(ObservationError) -> String
}

/// A machine without apps, as Linux is one.
extension ObservedInstallation {
    /// Not known.
    public func programPath() throws(ObservationError) -> String { throw ObservationError(.unsupported, "program") }

    /// Not known.
    public func bundleIdentifier() throws(ObservationError) -> String { throw ObservationError(.unsupported, "bundle") }

    /// Not known.
    public func receiptPath() throws(ObservationError) -> String { throw ObservationError(.unsupported, "receipt") }
}

/// What Apple's sandbox lets through. All throw ``ObservationError`` where there is no such sandbox.
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
    /// Its number.
    public let number: Int32

    /// What it leads to: a path, or what the system calls it (`socket:[1234]`, `anon_inode:[eventfd]`).
    public let target: String

    /// Creates a value.
    public init(number: Int32, target: String) {
        self.number = number
        self.target = target
    }
}

/// The most of each thing that is read.
public enum ObservationLimits {
    /// The most bytes of the list of mappings: half of the mebibyte that this module may hold at any time. A line
    /// has about 100 bytes; programs that were looked at (C, Swift, Python, OpenJDK) have 25 to 700.
    public static let mapsBytes = 524_288
    /// The most bytes of the status: it has about 1,500.
    public static let statusBytes = 16_384
    /// The most bytes of the environment: the kernel's limit of one string (`MAX_ARG_STRLEN`).
    public static let environmentBytes = 131_072
    /// The most threads whose names are read.
    public static let threads = 512
    /// The most descriptors that are looked at: the usual limit of a process.
    public static let descriptors = 1_024
    /// The most bytes of memory that are read at once: a piece of a comparison.
    public static let memoryBytes = 65_536
    /// The most pages of code whose state is looked at: 256 MiB of code at 4 KiB a page.
    public static let codePages = 65_536
    /// The most places of memory that are read at once.
    public static let places = 64
    /// The most bytes of an answer on a port: the head of an HTTP answer.
    public static let answerBytes = 1_024
    /// The most milliseconds for an answer on a port of this machine.
    public static let answerMilliseconds = 25
    /// The most bytes of a path: Linux's `PATH_MAX`.
    public static let pathBytes = 4_096
}

/// Why something cannot be looked at.
public struct ObservationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why, as a value that can be compared.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// It is not there.
        public static let missing = Self("missing")
        /// The system does not allow it.
        public static let refused = Self("refused")
        /// This system has no such thing.
        public static let unsupported = Self("unsupported")
        /// There is more than is read; what was not read was not looked at.
        public static let tooLarge = Self("too-large")
        /// It cannot be understood.
        public static let malformed = Self("malformed")
        /// It did not answer in time.
        public static let late = Self("late")
    }

    /// Why.
    public let code: Code

    /// What it was, in a few words.
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

    /// What and why.
    public var description: String { "\(self.subject): \(self.code)" }
}
