# SPDX-License-Identifier: Apache-2.0
"""Clients that take a large list slowly, over longer than a connection may wait for its next request, and whether others are
served meanwhile."""

import hashlib
import pathlib
import resource
import socket
import threading
import time

from pages import LARGE, publish_large
from stage import NAME, Service, expect, folder, machine, percentile, post

# The seconds that a connection may take to its next request.
HEAD = 15
# The most resident memory that one of them may take, in bytes, a sixth of the list: all share its bytes.
MOST_BYTES = 400_000
# On loopback a segment has 64 kB, and the system would take all of the list from the service at once. So small ones, as over
# a network, and little room for what was not read.
SEGMENT, ROOM = 1_400, 16_384
# The share of the list that each takes until the time for a next request is over; and the one from which on half of them take
# the rest at once, before the system has had the last byte, and ask again: from there that time begins.
FIRST, HALF = 0.05, 0.5
REQUEST = f"GET /v1/lists/{NAME}/pins.json HTTP/1.1\r\nHost: localhost\r\n"


class Reader:
    """A client that takes so many bytes a second and no more."""

    def __init__(self, address, asks_again):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        self.socket.connect((address.hostname, address.port))
        self.socket.sendall((REQUEST + "\r\n").encode())
        self.socket.setblocking(False)
        self.head, self.digest, self.taken, self.ended = b"", hashlib.sha256(), 0, ""
        self.asks_again, self.second = asks_again, None

    def take(self, upto):
        """Reads until it has so many bytes of the body, or no more are there."""
        try:
            while self.taken < upto and not self.ended:
                data = self.socket.recv(min(ROOM, upto - self.taken))
                if not data:
                    self.ended = "the service closed the connection"
                elif b"\r\n\r\n" not in self.head:
                    head, found, data = (self.head + data).partition(b"\r\n\r\n")
                    self.head = head + found
                    self.count(data if found else b"")
                else:
                    self.count(data)
        except BlockingIOError:
            pass
        except OSError as error:
            self.ended = str(error)

    def count(self, data):
        self.digest.update(data)
        self.taken += len(data)

    def ask_again(self, etag):
        """Keeps the first line of the answer to another request on the same connection."""
        try:
            self.socket.settimeout(30)
            self.socket.sendall((REQUEST + f"If-None-Match: {etag}\r\n\r\n").encode())
            self.second = self.socket.recv(4_096).split(b"\r\n")[0].decode()
        except OSError as error:
            self.second = str(error)


class Others(threading.Thread):
    """Clients beside them: each takes the list, and reports."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.ended = service, threading.Event()
        self.wrong, self.seconds, self.most = [], [], 0

    def run(self):
        connection, number = self.service.connection(), 0
        while not self.ended.wait(0.05):
            began = time.monotonic()
            try:
                if not self.service.lists_are_served():
                    self.wrong.append("a list was not served")
                self.seconds.append(time.monotonic() - began)
                status = post(connection, number, f"beside{number}.example.com")
                if status != 202:
                    self.wrong.append(f"a report was answered with {status}")
            except OSError as error:
                self.wrong.append(str(error))
                connection = self.service.connection()
            number += 1
            self.most = max(self.most, self.service.memory())


def held_by_the_system(port):
    """The bytes that the system holds of what was written to each connection of a port, as the writer's side tells."""
    held = []
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        # Established, with what was not acknowledged or not sent.
        if fields[3] == "01" and int(fields[1].split(":")[1], 16) == port:
            held.append(int(fields[4].split(":")[0], 16))
    return held


def prove(is_short):
    count, seconds = (20, 2 * HEAD) if is_short else (200, 8 * HEAD)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 1_000, hard), hard))
    with folder() as path:
        loaded = machine()
        service = Service(path)
        publish_large(service, LARGE)
        answer = service.ask("GET", f"/v1/lists/{NAME}/pins.json")
        size, digest, etag = len(answer.body), hashlib.sha256(answer.body).digest(), answer.headers["ETag"]
        expect(post(service.connection(), 1, "first.example.com") == 202, "a report was refused while there was no reader")
        before = service.memory()
        others, readers = Others(service), [Reader(service.address, number % 2 == 1) for number in range(count)]
        others.start()
        began = time.monotonic()
        passed, unsent = 0.0, None
        while passed < 2 * seconds and any(reader.taken < size and not reader.ended for reader in readers):
            passed = time.monotonic() - began
            share = max(FIRST, min(1, (passed - HEAD - 2) / (seconds - HEAD - 2)))
            for reader in readers:
                reader.take(size if reader.asks_again and share >= HALF else int(size * share))
                if reader.asks_again and reader.taken == size and reader.second is None:
                    reader.ask_again(etag)
            if unsent is None and passed > HEAD + 1:
                # What neither side's system holds is still to be written by the service, a deadline after it was asked.
                least = size - max(reader.taken for reader in readers) - ROOM * 2
                unsent = least - max(held_by_the_system(service.address.port), default=0)
            time.sleep(0.05)
        took = time.monotonic() - began
        others.ended.set()
        others.join(timeout=60)
        after = service.memory()
        for reader in readers:
            reader.socket.close()
        expect(service.stop() == 0, "the service ended with a failure")
    cut = [f"{reader.taken:,} bytes: {reader.ended or 'too slow'}" for reader in readers if reader.taken < size]
    expect(not cut, f"{len(cut)} of {count} did not get all of {size:,} bytes: {cut[:3]}")
    expect(all(reader.digest.digest() == digest for reader in readers), "some got other bytes than those of the list")
    expect(all(b" 200 " in reader.head.split(b"\r\n")[0] for reader in readers), "some were not answered with 200")
    expect(unsent is not None and unsent > 0, f"after {HEAD} s the system held the rest of the list ({unsent}): nothing was proved")
    again = {reader.second for reader in readers if reader.asks_again}
    expect(again == {"HTTP/1.1 304 Not Modified"}, f"on the same connections another request was answered with {again}")
    expect(others.seconds and not others.wrong, f"meanwhile {len(others.wrong)} of others were not served: {others.wrong[:3]}")
    each = (others.most - before) / count
    expect(each <= MOST_BYTES, f"each of them took {each:,.0f} bytes: more than {MOST_BYTES:,}")
    return [f"{count} clients take a list of {size:,} bytes over {took:.0f} s, {took / HEAD:.1f} times what a connection may wait for "
            f"its next request; {loaded}. A second after that time the service still had {unsent:,} bytes to write to each. "
            f"All got every byte; half of them took the second half at once, and had an answer to another request on the same "
            f"connection. Meanwhile {len(others.seconds):,} of "
            f"{len(others.seconds):,} lists were served to others (median {percentile(others.seconds, 0.5) * 1e3:.0f} ms, p99 "
            f"{percentile(others.seconds, 0.99) * 1e3:.0f} ms), and as many reports taken. Resident memory {before / 1e6:.1f} → "
            f"{others.most / 1e6:.1f} MB, {max(each, 0) / 1e3:.0f} kB for each (at most {MOST_BYTES / 1e3:.0f}: holds), "
            f"{after / 1e6:.1f} MB at the end."]
