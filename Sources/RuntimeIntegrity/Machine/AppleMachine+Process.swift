// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CRuntimeProbe
internal import Darwin

extension AppleMachine {
    /// `P_TRACED`, and the number of threads. Who traces is not said.
    public func status() throws(Unobservable) -> ProcessStatus {
        let traced = probe_traced()
        guard traced >= 0 else { throw Self.failure(traced, "status") }
        let threads = probe_threads(nil, 0)
        return ProcessStatus(tracer: traced == 1 ? -1 : 0, threads: threads > 0 ? threads : nil)
    }

    /// The names that threads gave themselves.
    public func threadNames() throws(Unobservable) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 64 * ObservationLimits.threads)
        let count = bytes.withUnsafeMutableBytes { buffer in
            probe_threads(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard count >= 0 else { throw Self.failure(count, "names of threads") }
        guard count <= ObservationLimits.threads else { throw Unobservable(.tooLarge, "names of threads") }
        return bytes.split(separator: 0, omittingEmptySubsequences: false).prefix(count).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// By `F_GETPATH`, which knows files only.
    public func descriptors() throws(Unobservable) -> [OpenDescriptor] {
        var path = [CChar](repeating: 0, count: 1_024)
        var descriptors: [OpenDescriptor] = []
        for number in 0..<ObservationLimits.descriptors {
            let length = probe_descriptor_path(number, &path)
            guard length > 0 else { continue }
            let target = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            descriptors.append(OpenDescriptor(number: Int32(number), target: target))
        }
        return descriptors
    }

    /// As it is now: the one of the start is not kept.
    public func environment() throws(Unobservable) -> [EnvironmentVariable] {
        guard let entries = probe_environment() else { throw Unobservable(.missing, "environment") }
        var bytes: [UInt8] = []
        var index = 0
        while let entry = entries[index], bytes.count < ObservationLimits.environmentBytes {
            bytes += String(cString: entry).utf8
            bytes.append(0)
            index += 1
        }
        return EnvironmentVariable.parse(bytes)
    }

    /// By `sysctl`; the sandbox of phones does not say.
    public func parentName() throws(Unobservable) -> String? {
        var name = [CChar](repeating: 0, count: 17)
        let length = probe_parent(&name, 16)
        guard length > 0 else { throw Self.failure(length, "parent") }
        return String(decoding: name[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
