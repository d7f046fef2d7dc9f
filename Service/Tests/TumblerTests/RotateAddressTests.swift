// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListRepository
import PinRotation
import Testing

@testable import tumbler

@Suite("A rotation and the addresses that a machine does not see")
struct RotateAddressTests {
    private static let host = ProbeScene.host

    /// An address of groups: no connection can be made to one, so that the system has no route.
    private static let unreachable = "224.0.0.1:443"

    /// Expects that looks of a kind do not count: not for a step, not for the 14 days, and not for an abort.
    ///
    /// - Parameters:
    ///   - places: The addresses of the host.
    ///   - words: What is missing.
    ///   - more: The options.
    private func expectNoLook(
        _ project: RotatedProject, at places: [String], _ words: String, _ more: [String] = []
    ) async throws {
        try await project.announce()
        let kept = try await project.rotate("abort", day: 1, at: places, ["--yes"] + more)
        kept.expectError(2, hint: true)
        #expect(kept.errors.contains(words), "\(kept)")
        try await project.makeReady()
        try project.serve(project.new)
        let undecided = try await project.rotate("next", day: 32, at: places, more)
        undecided.expectError(2, hint: true)
        #expect(undecided.errors.contains(words), "\(undecided)")
        // An address that is named stands for itself.
        let switched = try await project.rotate("next", day: 32, more)
        #expect(switched.lines == ["\(Self.host): ready, now switched"], "\(switched)")
        // The verdict on the host is another question.
        for day: Int64 in [39, 46] {
            let probe = try await project.probe(day: day, at: places, more)
            #expect(probe.exitCode == 0, "\(probe)")
        }
        let closed = try await project.rotate("next", day: 47, ["--yes"])
        closed.expectError(1, hint: true)
        #expect(closed.errors.contains("less than 14 days"), "\(closed)")
    }

    @Test("an address that this machine has no route to may serve the old key: its pin stays")
    func addressThatThisMachineHasNoRouteToMayServeTheOldKeyItsPinStays() async throws {
        try await RotatedProject.with { project in
            try await self.expectNoLook(
                project, at: [project.place, Self.unreachable],
                "\(Self.unreachable) could not be asked: this machine has no route there")
        }
    }

    @Test(
        "a proxy that chooses one address of many hides the one with the old key: its pin stays",
        .enabled(if: ServedLists.python != nil, "python3 is not installed"))
    func proxyThatChoosesOneAddressOfManyHidesTheOneWithTheOldKeyItsPinStays() async throws {
        let python = try #require(ServedLists.python)
        try await RotatedProject.with { project in
            let arguments = ["-c", ProxyTunnelTests.proxy, "\(project.scene.server.port)"]
            try await withRunningProcess(python, arguments, in: project.scene.folder) { proxy in
                let port = try #require(await proxy.nextLine(), "the proxy did not start")
                try await self.expectNoLook(
                    project, at: [],
                    "\(Self.host) answered through a proxy: which addresses there are is not known",
                    ["--proxy", "http://127.0.0.1:\(port)"])
            }
        }
    }

    @Test("a look over IPv4 alone does not see what is served over IPv6: the old pin stays")
    func lookOverIPv4AloneDoesNotSeeWhatIsServedOverIPv6TheOldPinStays() async throws {
        try await RotatedProject.with { project in
            try await self.expectNoLook(
                project, at: ["localhost:\(project.scene.server.port)"],
                "\(Self.host) answered over IPv4 alone: which other addresses there are is not known", ["--ipv4"])
        }
    }

    @Test("an old key that is seen counts, also where other addresses are not known")
    func oldKeyThatIsSeenCountsAlsoWhereOtherAddressesAreNotKnown() throws {
        let pki = try TestPKI([Self.host])
        let path = ValidatedPath(uncheckedValidatedPath: pki.path.map(\.der))
        let host = try HostName(Self.host)
        func look(_ observations: [AddressObservation]?, _ narrowing: String? = nil) -> RotationLook {
            RotationLook(hosts: [RotationLook.Host(host: host, observations: observations, narrowing: narrowing)])
        }
        let seen = AddressObservation(address: "192.0.2.1:443", .validated(path))
        let unseen = AddressObservation(address: "[2001:db8::1]:443", .unreachable("no way"), hasNoRoute: true)
        #expect(look([seen]).addresses.map(\.pins) == [path.publicKeyPins])
        #expect(look([seen]).existing == [host])
        for incomplete in [look([seen, unseen]), look([seen], "answered through a proxy")] {
            #expect(incomplete.addresses.map(\.pins) == [path.publicKeyPins, nil])
            #expect(incomplete.existing == [host])
        }
        #expect(look([seen], "answered through a proxy").addresses[1].gap == "\(host) answered through a proxy")
        for nothing in [look(nil), look([]), look([unseen]), look([unseen], "answered through a proxy")] {
            #expect(nothing.addresses.map(\.pins) == [nil])
        }
        // A host that a person names is remembered though it does not answer today; a name without any address is not.
        let nowhere = AddressObservation(address: nil, .unreachable("no such host"))
        #expect(look([unseen]).existing == [host])
        for nothing in [look(nil), look([]), look([nowhere])] { #expect(nothing.existing.isEmpty) }
        let (new, old) = try (PlannedKey(ProbeScene.backup), PlannedKey(pki.leaf.pin))
        let time = Timestamp(secondsSince1970: ProbeScene.now)
        let before = KeySightings(at: time, newEverywhereSince: time, oldNowhereSince: time)
        let later = Timestamp(secondsSince1970: ProbeScene.now + ProbeScene.day)
        let joined = KeySightings.joining(
            look([seen, unseen]).addresses, at: later, new: new, old: [old], to: before)
        #expect(joined == KeySightings(at: time))
    }

    @Test("the resolver is asked for the addresses of both families, whichever this machine has")
    func resolverIsAskedForTheAddressesOfBothFamiliesWhicheverThisMachineHas() {
        let hints = HostAddresses.hints(.every)
        #expect(hints.ai_flags == 0 && hints.ai_family == AF_UNSPEC)
        #expect(HostAddresses.hints(.usable).ai_flags & AI_ADDRCONFIG != 0)
    }
}
