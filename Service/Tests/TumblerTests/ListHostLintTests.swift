// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import X509

@Suite("Linting what the host of the lists serves")
struct ListHostLintTests {
    private static let listHost = "pins.example.net"

    @Test("one certificate for a pinned host and for the host of the lists is warned of, two are not")
    func oneCertificateForAPinnedHostAndForTheHostOfTheListsIsWarnedOfTwoAreNot() async throws {
        let both: (TestPKI) throws -> [TestCertificate] = { pki in
            let leaf = try TestCertificate.server(by: pki.intermediate, key: pki.leaf.key) { form in
                form.around(TestPKI.now)
                form.names = [.dnsName(ProbeScene.host), .dnsName(Self.listHost)]
            }
            return [leaf, pki.intermediate]
        }
        try await ProbeScene.with(both) { scene in
            let other = [
                try ProbeScene.leaf(by: scene.pki.intermediate, name: Self.listHost), scene.pki.intermediate,
            ]
            try await LoopbackServer.with(LoopbackServer.Identity(other)) { server in
                let pinned = ProjectText.good.replacing(ProjectText.pin("a"), with: "\(try scene.pki.leaf.pin)")
                try scene.folder.write(pinned + "server: https://\(Self.listHost)\n", as: "tumbler.yaml")
                for (port, isShared) in [(scene.server.port, true), (server.port, false)] {
                    let run = try await CommandRun.tumbler(
                        [
                            "lint", "--live", "--roots", "anchors.pem", "--connect-to",
                            "\(ProbeScene.host):127.0.0.1:\(scene.server.port)", "--connect-to",
                            "\(Self.listHost):127.0.0.1:\(port)", "--connect-to",
                            "reports.example.net:127.0.0.1:\(port)",
                        ], in: scene.folder)
                    // A warning stops nothing.
                    #expect(run.exitCode == 0, "\(run)")
                    let words = "warning: list-host-shares-fate: \(Self.listHost)"
                    #expect(run.output.contains(words) == isShared, "\(run)")
                }
            }
        }
    }
}
