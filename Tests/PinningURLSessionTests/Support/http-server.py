# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that behaves as its paths say, for the tests of fetchers.

    python3 http-server.py        prints its port, serves until standard input ends; each time that it answers
                                  /redirect-told it prints `redirects` before
"""

import http.server
import json
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # Nothing follows the head of a 304: a connection that is kept would take it for the next answer.
        if status != 304:
            self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        isReport = self.headers["Content-Type"] == "application/json" and json.loads(body) == {"a": 1}
        if self.path.startswith("/long/"):
            self.answer(int(self.path.removeprefix("/long/")), b"x" * 70000, Retry_After="17")
        elif self.path == "/endless":
            self.endless()
        elif self.path.startswith("/moved"):
            here = f"http://127.0.0.1:{self.server.server_address[1]}"
            target = {"/moved-often": f"{here}/moved-often", "/moved-elsewhere": "http://lists.example.com/v1/reports"}
            status = self.path.removeprefix("/moved/")
            self.answer(
                int(status) if status.isdigit() else 302, b"it is elsewhere",
                Location=target.get(self.path, f"{here}/v1/reports"))
        else:
            self.answer(202 if isReport and "Cookie" not in self.headers else 400)

    def endless(self):
        self.send_response(200)
        self.end_headers()
        while not stopped.is_set():
            self.wfile.write(b"x" * 65536)

    def do_GET(self):
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        path = self.path
        if path == "/v1/reports":
            self.answer(200)
        elif path == "/headers":
            self.answer(200, json.dumps({k.lower(): v for k, v in self.headers.items()}).encode(), Set_Cookie="a=b")
        elif path == "/list":
            self.answer(304 if self.headers.get("If-None-Match") == '"held"' else 200, b"list")
        elif path == "/busy":
            self.answer(503, b"", Retry_After="17")
        elif path.startswith("/busy/"):
            self.answer(503, b"", Retry_After=path.removeprefix("/busy/"))
        elif path.startswith("/redirect/"):
            left = int(path.rsplit("/", 1)[1])
            self.answer(302, b"", Location=f"{here}/redirect/{left - 1}" if left else f"{here}/list")
        elif path == "/redirect-told":
            print("redirects", flush=True)
            self.answer(302, b"", Location=f"{here}/redirect/1")
        elif path == "/elsewhere":
            self.answer(302, b"", Location="http://lists.example.com/list")
        elif path == "/file":
            self.answer(302, b"", Location="file:///etc/passwd")
        elif path == "/nowhere":
            self.answer(302)
        elif path == "/rubbish-redirect":
            self.answer(302, b"", Location="http://[::::/%%%")
        elif path == "/rubbish":
            self.wfile.write(b"HTTP/9.9 abc\r\n\0\0: \xff\r\n\r\nrubbish")
            self.close_connection = True
        elif path == "/headers-without-end":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 1000000)
            self.close_connection = True
        elif path == "/status-zero":
            self.wfile.write(b"HTTP/1.1 000 \r\nContent-Length: -5\r\n\r\n")
            self.close_connection = True
        elif path == "/continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 50)
            self.answer(200, b"list")
        elif path == "/silent":
            stopped.wait()
        elif path == "/drip":
            self.send_response(200)
            self.end_headers()
            while not stopped.wait(0.05):
                self.wfile.write(b".")
        elif path == "/endless":
            self.endless()
        elif path == "/long":
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            stopped.wait()
        elif path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"only this")
            self.close_connection = True
        else:
            self.answer(404)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that hang up are what some tests are about."""


stopped = threading.Event()
server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
stopped.set()
