// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The system that a program was built for (`PLATFORM_…`, `<mach-o/loader.h>`).
struct ProgramPlatform: Hashable, Sendable {
    /// Its number.
    let number: UInt32

    /// macOS and Mac Catalyst.
    var isMac: Bool { [1, 6].contains(self.number) }

    /// The simulators of iOS, tvOS, watchOS and visionOS.
    var isSimulator: Bool { [7, 8, 9, 12].contains(self.number) }

    /// What a load command says of it; `nil` for commands about other things.
    init?(command: UInt32, _ bytes: [UInt8]) {
        switch command {
        case 0x32:  // LC_BUILD_VERSION
            guard let number = bytes.littleEndian(UInt32.self, at: 8) else { return nil }
            self.number = number
        // LC_VERSION_MIN_MACOSX, …_IPHONEOS, …_TVOS, …_WATCHOS, of older linkers: simulators had no number of their own.
        case 0x24: self.number = 1
        case 0x25: self.number = 2
        case 0x2F: self.number = 3
        case 0x30: self.number = 4
        default: return nil
        }
    }
}
