// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What an app does itself that would look like somebody else's doing.
///
/// Declare as little as possible: what is declared is not noticed when another does it.
public struct DeclaredBehaviour: Hashable, Sendable {
    /// The most executable mappings without a file: those of a just-in-time compiler. 0 for most programs.
    public var anonymousCodeRegions: Int

    /// The names of files in memory that the app runs code from, as given to memfd_create(2) (`doublemapper`).
    public var memoryFiles: Set<String>

    /// The processes that may trace this one: a child of its own that keeps others from attaching.
    public var tracers: Set<Int32>

    /// The most threads that the app has; `nil` when it does not know.
    public var maximumThreads: Int?

    /// Beginnings of the names of libraries that the operator preloads, beside ``PreloadDetector/known``.
    public var preloadedLibraries: Set<String>

    /// Creates a declaration; without parameters, that of a program that does none of it.
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
