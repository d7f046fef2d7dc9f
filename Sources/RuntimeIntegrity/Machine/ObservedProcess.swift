// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// This process as the system sees it.
public protocol ObservedProcess: Sendable {
    /// Who traces it, and how many threads it has.
    func status() throws(Unobservable) -> ProcessStatus

    /// The names of its threads.
    func threadNames() throws(Unobservable) -> [String]

    /// What its descriptors lead to.
    func descriptors() throws(Unobservable) -> [OpenDescriptor]

    /// The environment that it was started with: what was changed since, by itself or others, does not count.
    func environment() throws(Unobservable) -> [EnvironmentVariable]

    /// The name of the program that started it; `nil` for the first process of a container, which has none there.
    func parentName() throws(Unobservable) -> String?
}
