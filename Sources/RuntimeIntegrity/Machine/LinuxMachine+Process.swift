// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CRuntimeProbe

extension LinuxMachine {
    /// From `/proc/self/status`.
    public func status() throws(Unobservable) -> ProcessStatus {
        try ProcessStatus(parsing: self.whole("/proc/self/status", atMost: ObservationLimits.statusBytes))
    }

    /// From `/proc/self/task/*/comm`.
    public func threadNames() throws(Unobservable) -> [String] {
        var names: [String] = []
        try self.names(in: "/proc/self/task") { (id) throws(Unobservable) in
            guard names.count < ObservationLimits.threads else { throw Unobservable(.tooLarge, "names of threads") }
            let file = probe_open("/proc/self/task/\(String(cString: id))/comm")
            // A thread may have ended since.
            guard file >= 0 else { return }
            defer { _ = probe_close(file) }
            // TASK_COMM_LEN: 15 bytes and a newline.
            withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { bytes in
                let count = probe_read(file, bytes.baseAddress, bytes.count)
                guard count > 0 else { return }
                names.append(String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self))
            }
        }
        return names
    }

    /// From `/proc/self/fd`.
    public func descriptors() throws(Unobservable) -> [OpenDescriptor] {
        var descriptors: [OpenDescriptor] = []
        try self.names(in: "/proc/self/fd") { (name) throws(Unobservable) in
            guard descriptors.count < ObservationLimits.descriptors else {
                throw Unobservable(.tooLarge, "descriptors")
            }
            let number = String(cString: name)
            let link = self.link("/proc/self/fd/\(number)")
            guard link.result > 0, let value = Int32(number) else { return }
            descriptors.append(OpenDescriptor(number: value, target: link.target))
        }
        return descriptors
    }

    /// From `/proc/self/environ`: as it was at the start.
    public func environment() throws(Unobservable) -> [EnvironmentVariable] {
        EnvironmentVariable.parse(
            try self.whole("/proc/self/environ", atMost: ObservationLimits.environmentBytes))
    }

    /// From `/proc/PARENT/comm`. A parent in another namespace has the number 0 and no name.
    public func parentName() throws(Unobservable) -> String? {
        let parent = probe_parent_id()
        guard parent > 0 else { return nil }
        let name = try self.whole("/proc/\(parent)/comm", atMost: 64)
        return String(decoding: name.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
#endif
