# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP over TLS that takes one connection at a time: it accepts the next one when the last one is closed.

    sequential-server.py CHAIN KEY        prints its port; runs until it is killed"""

import socket
import ssl
import sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0), backlog=16)
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    try:
        with context.wrap_socket(connection, server_side=True) as secured:
            request = b""
            while b"\r\n\r\n" not in request:
                more = secured.recv(65_536)
                if not more:
                    break
                request += more
            else:
                secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    except OSError:
        pass
