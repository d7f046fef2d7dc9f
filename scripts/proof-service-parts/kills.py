# SPDX-License-Identifier: Apache-2.0
"""kill -9 under load, and SIGTERM: every report that got its 202 is there once."""

import http.client
import random
import socket
import sqlite3
import threading
import time

from stage import Service, expect, folder, machine, post

SENDERS = 16
# The most seconds from SIGTERM to the end.
MOST_SECONDS = 25
IDLE = 50


class Sender(threading.Thread):
    """Sends reports on one connection, each about a host of its own, until the service is gone."""

    def __init__(self, service, mark):
        super().__init__(daemon=True)
        self.service, self.mark = service, mark
        self.accepted, self.sent, self.others = [], 0, []

    def run(self):
        connection = self.service.connection(timeout=10)
        try:
            while True:
                host = f"{self.mark}-{self.sent}.example.com"
                self.sent += 1
                status = post(connection, random.getrandbits(24), host)
                if status == 202:
                    self.accepted.append(host)
                elif status == 429:
                    time.sleep(0.05)
                else:
                    self.others.append(status)
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()


def stored(service):
    """How often each host is stored."""
    db = sqlite3.connect(f"file:{service.data / 'tumbler.sqlite'}?mode=ro", uri=True)
    try:
        return dict(db.execute("SELECT host, COUNT(*) FROM report GROUP BY host"))
    finally:
        db.close()


def totals(service):
    """The sums that are kept beside the reports: all of them must say the same."""
    db = sqlite3.connect(f"file:{service.data / 'tumbler.sqlite'}?mode=ro", uri=True)
    try:
        return db.execute("""SELECT (SELECT COUNT(*) FROM report), (SELECT SUM(count) FROM group_count),
            (SELECT SUM(count) FROM group_hour), (SELECT SUM(count) FROM report_hour)""").fetchone()
    finally:
        db.close()


def open_connection(service, text=b""):
    connection = socket.create_connection((service.address.hostname, service.address.port))
    connection.sendall(text)
    return connection


def prove_end():
    """SIGTERM while reports come, connections are idle, and two requests never end."""
    with folder() as path:
        service = Service(path)
        service.start()
        service.publish()
        senders = [Sender(service, f"t{number}") for number in range(SENDERS)]
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        others = [open_connection(service, request) for _ in range(IDLE)]
        for connection in others:
            connection.recv(4_096)
        others += [open_connection(service, b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
                   for _ in range(2)]
        for sender in senders:
            sender.start()
        time.sleep(0.5)
        began = time.monotonic()
        status = service.stop()
        seconds = time.monotonic() - began
        accepted = []
        for sender in senders:
            sender.join(timeout=30)
            expect(not sender.is_alive(), "a sender does not see that the service is gone")
            expect(not sender.others, f"reports were answered with {sorted(set(sender.others))}")
            accepted += sender.accepted
        for connection in others:
            connection.close()
        found = stored(service)
    lost = [host for host in accepted if found.get(host) != 1]
    expect(accepted, "no report was accepted: nothing was proved")
    expect(not lost, f"after SIGTERM, {len(lost)} of {len(accepted)} reports with 202 are not there once: {lost[:3]}")
    expect(status == 0, f"after SIGTERM the service ended with {status}")
    expect(seconds <= MOST_SECONDS, f"after SIGTERM it took {seconds:.1f} s")
    return [f"* SIGTERM under {SENDERS} senders, with {IDLE} idle connections and two reports that never come to their end: it "
            f"ended {seconds:.1f} s later (at most {MOST_SECONDS}: holds), and each of {len(accepted):,} reports with 202 is there "
            "once."]


def prove(times):
    """Kills `times` times."""
    accepted, unanswered, extra, restarts = 0, 0, 0, []
    loaded = machine()
    with folder() as path:
        service = Service(path)
        service.start()
        service.publish()
        wanted = set()
        began = time.monotonic()
        for done in range(times):
            senders = [Sender(service, f"k{done}s{number}") for number in range(SENDERS)]
            for sender in senders:
                sender.start()
            time.sleep(random.uniform(0.05, 0.8))
            service.kill()
            for sender in senders:
                sender.join(timeout=30)
                expect(not sender.is_alive(), "a sender does not see that the service is gone")
                expect(not sender.others, f"reports were answered with {sorted(set(sender.others))}")
                wanted.update(sender.accepted)
                accepted += len(sender.accepted)
                unanswered += sender.sent - len(sender.accepted)
            restarts.append(service.start())
            found = stored(service)
            lost = [host for host in wanted if host not in found]
            expect(not lost, f"after kill {done + 1}, {len(lost)} reports with 202 are gone, such as {lost[:3]}")
            twice = [host for host, count in found.items() if count != 1]
            expect(not twice, f"after kill {done + 1}, {len(twice)} reports are there more than once: {twice[:3]}")
            expect(len(set(totals(service))) == 1, f"after kill {done + 1} the sums differ: {totals(service)}")
            extra = len(found) - len(wanted)
            expect(service.lists_are_served(), f"after kill {done + 1} the list is not served")
            service.local("audit-log", "verify")
        seconds = time.monotonic() - began
        expect(accepted > 0, "no report was accepted: nothing was proved")
        service.kill()
    ended = prove_end()
    return [f"Killed {times} times (signal 9) under {SENDERS} senders, in {seconds:.0f} s; {loaded}.", "",
            f"* {accepted:,} reports had been answered with 202: each is there once after the restart, and the sums by "
            "group and by hour say the same number.",
            f"* {extra:,} more are there whose answer did not arrive any more; {unanswered:,} were never answered.",
            "* After each kill the list was served, byte for byte, and the audit log verified.",
            f"* The slowest restart took {max(restarts, default=0) * 1e3:.0f} ms until it listened."] + ended
