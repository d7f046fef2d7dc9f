# SPDX-License-Identifier: Apache-2.0
"""A server on loopback for what-a-mac-shows: with TLS and without, in one process.

    python3 server.py CERTIFICATE KEY     prints both ports, serves until standard input ends

`/count` without TLS says how many requests came besides; `/slow` answers after a second; all else is `hello`."""

import http.server
import ssl
import sys
import threading
import time

lock = threading.Lock()
requests = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        global requests
        if self.path == "/count":
            body = str(requests)
        else:
            with lock:
                requests += 1
            if self.path == "/slow":
                time.sleep(1)
            body = "slow" if self.path == "/slow" else "hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()


def main():
    secure = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    for server in (secure, plain):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(secure.server_address[1], plain.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
