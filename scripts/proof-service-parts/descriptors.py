# SPDX-License-Identifier: Apache-2.0
"""A process that may open few files, and strangers who take every connection of the public listener."""

import http.client
import os
import resource
import selectors
import socket
import threading
import time

from instances import LOOK, Webhook, until
from stage import NAME, Service, expect, folder, machine, post

# The files that the process may open: what is kept back for all else, and a few connections.
FILES = 256
# Within how many seconds what is the operator's is answered, while the public listener is full.
ANSWER = 10
# Within how many seconds somebody else is served when the strangers have gone: connections that say nothing end by then.
RECOVERY = 60


class Strangers(threading.Thread):
    """So many connections, half of them with half a request, opened again as soon as they are ended."""

    def __init__(self, address, count):
        super().__init__(daemon=True)
        self.address, self.ended = (address.hostname, address.port), threading.Event()
        self.selector = selectors.DefaultSelector()
        for number in range(count):
            self.open(number)

    def open(self, number):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(self.address)
        # Writable when it stands in the queue, readable when it is ended.
        self.selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, number)

    def run(self):
        while not self.ended.is_set():
            for key, events in self.selector.select(timeout=0.2):
                try:
                    if events & selectors.EVENT_READ and not key.fileobj.recv(4_096):
                        raise ConnectionError("ended")
                    if events & selectors.EVENT_WRITE:
                        if key.data % 2:
                            key.fileobj.send(b"GET / HTTP/1.1\r\nHost: ")
                        self.selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
                except OSError:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()
                    self.open(key.data)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()

    def go(self):
        self.ended.set()
        self.join(timeout=30)
        expect(not self.is_alive(), "the strangers do not go")


def open_files(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def is_served(service, timeout):
    """Whether somebody else gets a list within so many seconds."""
    try:
        return service.ask("GET", f"/v1/lists/{NAME}/pins.json", timeout=timeout).status == 200
    except (OSError, http.client.HTTPException):
        return False


def prove(is_short):
    count, seconds = (300, 5) if is_short else (900, 60)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 1_000, hard), hard))
    with folder() as path:
        loaded, webhook = machine(), Webhook()
        (path / "hook").write_text(f"http://127.0.0.1:{webhook.server.server_address[1]}/hook")
        service = Service(path, admin=True, prefix=["bash", "-c", f'ulimit -n {FILES}; exec "$@"', "bash"],
                          settings=f"alerts: [{{type: webhook, urlFile: {path / 'hook'}, name: ops}}]")
        service.start()
        service.publish()
        expect(is_served(service, ANSWER), "a list is not served while nobody else is there")
        secret = service.local("token", "create", "--scope", "publish", "--name", NAME).strip()
        strangers = Strangers(service.address, count)
        strangers.start()
        full = until(lambda: "connections are open, and no more are accepted" in service.said(), 30,
                     "the public listener is never full")
        expect(not is_served(service, 2), "the public listener is not full: somebody else was served at once")
        # All of it while they are there: a publication that is refused is in the audit log, and rings an alarm.
        answer = service.ask("PUT", f"/v1/lists/{NAME}", b"[", {"Authorization": "Bearer " + secret}, timeout=ANSWER,
                             address=service.operator)
        expect(answer.status == 422, f"a broken publication was answered with {answer.status}")
        told = until(lambda: ("firing", f"publish-refused:{NAME}") in webhook.events("publish-refused"), 3 * LOOK,
                     "the webhook heard nothing")
        looks, most, slowest, end = 0, 0, 0, time.monotonic() + seconds
        while time.monotonic() < end:
            for page in ("/", "/audit", "/v1/status", "/metrics", "/readyz"):
                answer = service.look(page, timeout=ANSWER)
                expect(answer.status == 200, f"{page} was answered with {answer.status}")
                looks, slowest = looks + 1, max(slowest, answer.seconds)
            most = max(most, open_files(service))
            time.sleep(0.1)
        service.local("audit-log", "verify")
        strangers.go()
        again = until(lambda: is_served(service, 2), RECOVERY, "after the strangers went a list is not served")
        expect(post(service.connection(), 1, "after.example.com") == 202, "after the strangers went a report is refused")
        left = open_files(service)
        expect(most < FILES, f"{most} of {FILES} files were open")
        expect(service.stop() == 0, "the service ended with a failure")
    return [f"A process that may open {FILES} files, {count} connections of strangers, half of them with half a request, opened "
            f"again whenever they were ended, for {seconds} s and more: the public listener was full after {full:.1f} s, and the "
            f"log said so. {looks} pages of the operator were answered, the slowest after {slowest:.1f} s; a refused publication "
            f"was in the audit log, and told by webhook after {told:.0f} s. {most} files were open at most. When they had gone a list "
            f"was served after {again:.1f} s, and a report taken; {left} files were open then. {loaded}."]
