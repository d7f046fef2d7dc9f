// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Through a proxy on loopback", .enabled(if: ServedLists.python != nil, "python3 is not installed"))
struct ProxyTunnelTests {
    /// A proxy that opens a tunnel to one port of this machine, for any name that it is told: only the proxy knows the
    /// way. It prints its port, then the target and the credentials of each tunnel.
    static let proxy = #"""
        import http.server, select, socket, sys
        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                print(self.path, self.headers.get("Proxy-Authorization", "-"), flush=True)
                with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
                    self.send_response(200)
                    self.end_headers()
                    ends = [self.connection, server]
                    while True:
                        for end in select.select(ends, [], [])[0]:
                            data = end.recv(65_536)
                            if not data: return
                            ends[1 - ends.index(end)].sendall(data)
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """#

    /// Runs `body` beside such a proxy in front of the scene's server, whose name no resolver knows.
    private func withProxy(
        _ body: (FetchScene, _ port: String, inout RunningProcess) async throws -> Void
    ) async throws {
        try await FetchScene.with { scene in
            let python = try #require(ServedLists.python)
            let arguments = ["-c", Self.proxy, "\(scene.server.port)"]
            try await withRunningProcess(python, arguments, in: scene.folder) { proxy in
                let port = try #require(await proxy.nextLine(), "the proxy did not start")
                try await body(scene, port, &proxy)
            }
        }
    }

    @Test("a page is fetched through the proxy of HTTPS_PROXY, and its pins decide as they do without one")
    func pageIsFetchedThroughTheProxyOfHTTPSProxy() async throws {
        try await self.withProxy { scene, port, proxy in
            let line =
                #"NO_PROXY= no_proxy= HTTPS_PROXY=http://127.0.0.1:\#(port) "$0" fetch https://\#(FetchScene.host)/"#
                + " --cacert anchors.pem --pin "
            let right = try await CommandRun.shell("\(line)\(scene.pin)", in: scene.folder)
            right.expectResult()
            #expect(right.output == "hello")
            #expect(await proxy.nextLine() == "\(FetchScene.host):443 -")
            let wrong = try await CommandRun.shell("\(line)\(FetchScene.strangePin)", in: scene.folder)
            wrong.expectError(1)
            #expect(scene.server.counts.requests == 1)
        }
    }

    @Test("a server's pins are asked for through --proxy, with its name and password")
    func pinsOfAServerAreAskedForThroughTheProxyWithItsNameAndPassword() async throws {
        try await self.withProxy { scene, port, proxy in
            let run = try await CommandRun.tumbler(
                [
                    "pin", "\(FetchScene.host):443", "--cacert", "anchors.pem", "--proxy",
                    "http://me:secret@127.0.0.1:\(port)",
                ], in: scene.folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.pins == (try scene.pki.path.map { "\(try $0.pin)" }))
            #expect(await proxy.nextLine() == "\(FetchScene.host):443 Basic bWU6c2VjcmV0")
        }
    }
}
