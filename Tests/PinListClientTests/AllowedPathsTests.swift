// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Adapters) import PinListClient
import Testing

@Suite("The servers whose paths are remembered")
struct AllowedPathsTests {
    private static let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])

    private func server(_ number: Int) throws -> AllowedPaths.Server {
        AllowedPaths.Server(host: try HostName("h\(number).example.com"), port: 443)
    }

    @Test("are of limited number; one that is used now and then stays, whichever others are met")
    func areOfLimitedNumberOneThatIsUsedNowAndThenStays() throws {
        let paths = AllowedPaths()
        for number in 0..<3_000 {
            paths.note(Self.path, for: try self.server(number), isCovered: false)
            if number.isMultiple(of: 100) { #expect(paths.path(of: try self.server(0)) == Self.path) }
        }
        #expect((512...1_024).contains(paths.all.count))
        #expect(paths.path(of: try self.server(1)) == nil)
        #expect(paths.path(of: try self.server(2_999)) == Self.path)
    }

    @Test("are forgotten last where an entry covers them: a page chooses as many other hosts as it likes")
    func areForgottenLastWhereAnEntryCoversThem() throws {
        let paths = AllowedPaths()
        for number in 0..<10 { paths.note(Self.path, for: try self.server(number), isCovered: true) }
        for number in 10..<3_000 { paths.note(Self.path, for: try self.server(number), isCovered: false) }
        for number in 0..<10 { #expect(paths.all[try self.server(number)] == Self.path, "\(number)") }
        // They are of limited number all the same.
        for number in 0..<3_000 { paths.note(Self.path, for: try self.server(number), isCovered: true) }
        #expect(paths.all.count <= 1_024)
        #expect(paths.all[try self.server(0)] == nil)
    }

    @Test("are forgotten by their path: a server that has shown another one since keeps that")
    func areForgottenByTheirPath() throws {
        let paths = AllowedPaths()
        let other = ValidatedPath(uncheckedValidatedPath: [[0x31]])
        paths.note(Self.path, for: try self.server(0), isCovered: true)
        paths.forget(other, of: try self.server(0))
        #expect(paths.path(of: try self.server(0)) == Self.path)
        paths.note(other, for: try self.server(0), isCovered: true)
        paths.forget(Self.path, of: try self.server(0))
        #expect(paths.path(of: try self.server(0)) == other)
        paths.forget(other, of: try self.server(0))
        #expect(paths.path(of: try self.server(0)) == nil && paths.all.isEmpty)
    }
}
