// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOSSL

/// The server: presents a leaf and its intermediate, writes the root and the leaf's pin beside it, says its port, and
/// goes on until its standard input ends. Then it says how many handshakes there were. As `logged` its leaf has the
/// timestamps of two logs, and a log list is written, too.
struct Serving {
    private let keys: TestPKI.Keys
    private let speaksHTTP2: Bool
    private let isLogged: Bool
    private let folder: URL

    init(_ arguments: inout ArraySlice<String>) throws {
        guard let keys = arguments.popFirst().flatMap(TestPKI.Keys.init(rawValue:)), let version = arguments.popFirst(),
            let folder = arguments.popFirst()
        else { throw Main.Usage() }
        self.keys = keys
        self.speaksHTTP2 = version == "http2"
        self.isLogged = version == "logged"
        self.folder = URL(fileURLWithPath: folder)
    }

    func run() async throws {
        let made = try LoggedPKI(Fetching.host, keys: self.keys)
        let pki = made.pki
        let leaf = self.isLogged ? made.logged : pki.leaf
        let time = Timestamp(secondsSince1970: TestPKI.now - 86_400).description
        try Data(SigningLog.list(of: made.logs, at: time)).write(to: self.folder.appendingPathComponent("logs.json"))
        try Data(pki.root.pem.utf8).write(to: self.folder.appendingPathComponent("root.pem"))
        try Data(pki.leaf.pin.description.utf8).write(to: self.folder.appendingPathComponent("pin"))
        try await LoopbackServer.with(LoopbackServer.Identity([leaf, pki.intermediate]), http2: self.speaksHTTP2) {
            server in
            print(server.port)
            fflush(nil)
            // A thread of its own waits, not one of Swift's.
            await withCheckedContinuation { ended in
                Thread.detachNewThread {
                    while readLine() != nil {}
                    ended.resume()
                }
            }
            print(server.counts.handshakes)
        }
    }
}
