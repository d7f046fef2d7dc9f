// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The declared behaviour of an app: its own actions that would look like an intruder's.
///
/// Declare as little as possible: declared behaviour is not noticed when an intruder shows it.
public struct DeclaredBehaviour: Hashable, Sendable {
    /// The maximum number of executable mappings without a file, such as those of a just-in-time compiler, and the stack of
    /// a program that asks for an executable one. 0 for most programs.
    public var anonymousCodeRegions: Int

    /// The names of files in memory that the app runs code from, as given to memfd_create(2) (`doublemapper`).
    public var memoryFiles: Set<String>

    /// The processes that may trace this one: a child of its own that keeps others from attaching.
    public var tracers: Set<Int32>

    /// The maximum number of threads of the app; `nil` when it does not know.
    public var maximumThreads: Int?

    /// Beginnings of the names of libraries that the operator preloads, beside ``PreloadDetector/known``.
    public var preloadedLibraries: Set<String>

    /// Creates a declaration; without parameters, that of a program without such behaviour.
    public init(
        anonymousCodeRegions: Int = 0, memoryFiles: Set<String> = [], tracers: Set<Int32> = [],
        maximumThreads: Int? = nil, preloadedLibraries: Set<String> = []
    ) {
        self.anonymousCodeRegions = anonymousCodeRegions
        self.memoryFiles = memoryFiles
        self.tracers = tracers
        self.maximumThreads = maximumThreads
        self.preloadedLibraries = preloadedLibraries
    }
}
