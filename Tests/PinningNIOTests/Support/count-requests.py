# SPDX-License-Identifier: Apache-2.0
"""What reaches a man in the middle, counted: an addon of mitmproxy.

    mitmdump --quiet --scripts count-requests.py …

prints its port. For each line that it reads it prints a line of JSON with the counts so far, once no client is
connected any more. It ends when standard input does.
"""

import asyncio
import json
import os
import sys
import threading

from mitmproxy import ctx
from mitmproxy.proxy import events
from mitmproxy.proxy.layers import tls

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def request_bytes(said):
    """How much of what one client said belongs to requests: all of it; in HTTP/2, what frames of streams are."""
    if not said or said[: len(PREFACE)] != PREFACE:
        return len(said)
    count, rest = 0, said[len(PREFACE) :]
    while rest:
        length = 9 + int.from_bytes(rest[:3], "big")
        if int.from_bytes(rest[5:9], "big") & 0x7FFFFFFF:
            count += len(rest[:length])
        rest = rest[length:]
    return count


class CountingTLS:
    """Stands where mitmproxy hands decrypted bytes of a client to the code that reads them: nothing is before it."""

    said = {}
    hand_over = tls.ClientTLSLayer.event_to_child

    def event_to_child(layer, event):
        if isinstance(event, events.DataReceived) and event.connection is layer.context.client:
            said = CountingTLS.said.setdefault(layer.context.client.id, [])
            # What comes along with the end of a handshake passes twice: mitmproxy puts it off at first.
            if not any(event is before for before in said):
                said.append(event)
        yield from CountingTLS.hand_over(layer, event)

    def texts():
        return [b"".join(event.data for event in said) for said in CountingTLS.said.values()]


tls.ClientTLSLayer.event_to_child = CountingTLS.event_to_child


class Counter:
    """Counts what mitmproxy's own hooks tell, too."""

    def __init__(self):
        self.connected = set()
        self.connections = self.handshakes = self.requests = 0
        self.is_idle = asyncio.Event()
        self.is_idle.set()

    def running(self):
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.answer, args=(loop,), daemon=True).start()
        print(ctx.master.addons.get("proxyserver").listen_addrs()[0][1], flush=True)

    def answer(self, loop):
        for _ in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.is_idle.wait(), loop).result()
            counts = {
                "connections": self.connections,
                "handshakes": self.handshakes,
                "requests": self.requests,
                "requestBytes": sum(map(request_bytes, CountingTLS.texts())),
            }
            print(json.dumps(counts), flush=True)
        os._exit(0)

    def client_connected(self, client):
        self.connections += 1
        self.connected.add(client.id)
        self.is_idle.clear()

    def client_disconnected(self, client):
        self.connected.discard(client.id)
        if not self.connected:
            self.is_idle.set()

    def tls_established_client(self, _):
        self.handshakes += 1

    def requestheaders(self, flow):
        # A request for a tunnel is no request of the client's.
        if flow.request.method != "CONNECT":
            self.requests += 1


addons = [Counter()]
