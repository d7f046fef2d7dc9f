// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The memory of this process.
public protocol ObservedMemory: Sendable {
    /// What is mapped and can be executed, in order.
    ///
    /// - Throws: ``Unobservable`` when it cannot be read, or not to its end.
    func executableRegions() throws(Unobservable) -> [MemoryRegion]

    /// Of each region of code that is mapped from a file: how many of its pages are not the file's any more.
    ///
    /// A page that was written to is a copy, and stays one after the old bytes are put back.
    ///
    /// - Parameter scope: Which code.
    /// - Throws: ``Unobservable`` when the system does not say.
    func changedPages(_ scope: PageScope) throws(Unobservable) -> [ChangedPages]

    /// The same as ``changedPages(_:)`` of all code, asked for in another way.
    ///
    /// - Throws: ``Unobservable`` when the system has no other way.
    func copiedCode() throws(Unobservable) -> [ChangedPages]

    /// The bytes at an address, at most ``ObservationLimits/memoryBytes``.
    ///
    /// - Throws: ``Unobservable`` when not all of them are mapped, and for more.
    func bytes(at address: UInt64, count: Int) throws(Unobservable) -> [UInt8]

    /// The bytes at each of some addresses, at most ``ObservationLimits/places`` of them.
    ///
    /// - Throws: ``Unobservable`` when one of them is not mapped.
    func bytes(at addresses: [UInt64], count: Int) throws(Unobservable) -> [[UInt8]]

    /// The paths of the libraries that the loader has loaded.
    func loadedImages() throws(Unobservable) -> [String]
}

/// What follows from the rest.
extension ObservedMemory {
    /// One after the other.
    public func bytes(at addresses: [UInt64], count: Int) throws(Unobservable) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for address in addresses { all.append(try self.bytes(at: address, count: count)) }
        return all
    }
}
