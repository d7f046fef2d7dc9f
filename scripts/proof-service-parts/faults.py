# SPDX-License-Identifier: Apache-2.0
"""A full disk, a locked database, a database that is gone, a slow one, an end while it is locked, and clocks that jump."""

import contextlib
import http.client
import os
import pathlib
import signal
import sqlite3
import subprocess
import threading
import time

from kills import MOST_SECONDS
from postgresql import PostgreSQL
from stage import Failure, Service, expect, folder, machine, post

# The time that a report may take until it is answered, one way or the other: each of the writers that stand in the queue
# before it waits 5 s for a lock.
LONGEST_ANSWER = 30


class Traffic:
    """Reports and list requests side by side, as long as the block lasts; what they were answered with."""

    def __init__(self, service, pause=0.02):
        self.service, self.pause = service, pause
        self.reports, self.lists, self.slowest = {}, {}, {"reports": 0.0, "lists": 0.0}
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.send, args=(number,)) for number in range(4)]
        self.threads.append(threading.Thread(target=self.read))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def send(self, number):
        for count in range(1_000_000):
            if self.ended.wait(self.pause):
                return
            self.asked("reports", self.reports, lambda connection: post(
                connection, number << 16 | count, f"f{number}-{count}.example.com"))

    def read(self):
        while not self.ended.wait(self.pause):
            self.asked("lists", self.lists, lambda _: 200 if self.service.lists_are_served() else "wrong")

    def asked(self, kind, counts, ask):
        began = time.monotonic()
        connection = self.service.connection(timeout=60)
        try:
            status = ask(connection)
        except (OSError, http.client.HTTPException) as error:
            status = type(error).__name__
        finally:
            connection.close()
        counts[status] = counts.get(status, 0) + 1
        self.slowest[kind] = max(self.slowest[kind], time.monotonic() - began)

    def said(self):
        def text(counts):
            return ", ".join(f"{count} × {status}" for status, count in sorted(counts.items(), key=str)) or "none"
        return (f"reports {text(self.reports)}, the slowest {self.slowest['reports']:.1f} s; lists {text(self.lists)}, "
                f"the slowest {self.slowest['lists'] * 1e3:.0f} ms")

    def lists_went_on(self, what):
        expect(set(self.lists) == {200}, f"{what}: lists were not served on: {self.said()}")
        expect(self.slowest["lists"] < 2, f"{what}: a list took {self.slowest['lists']:.1f} s")
        expect(set(self.reports) <= {202, 503}, f"{what}: reports were answered otherwise: {self.said()}")
        expect(self.slowest["reports"] < LONGEST_ANSWER,
               f"{what}: a report waited {self.slowest['reports']:.1f} s")


def works_again(service, what, within=20):
    """A report is accepted, soon."""
    began = time.monotonic()
    while time.monotonic() - began < within:
        connection = service.connection()
        status = post(connection, 1, "again.example.com")
        connection.close()
        if status == 202:
            return time.monotonic() - began
        time.sleep(0.2)
    raise Failure(f"{what}: {within} s after the fault reports are still answered with {status}; {service.said()}")


@contextlib.contextmanager
def started(path, **options):
    service = Service(path, **options)
    service.start()
    service.publish()
    try:
        yield service
        expect(service.process.poll() is None, "the service ended: " + service.said())
        service.local("audit-log", "verify")
    finally:
        service.kill()


def full_disk(path, seconds, megabytes=8):
    """The disk has no room left: reports are refused, lists go on; then there is room again."""
    disk = path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", disk],
                                           capture_output=True).returncode != 0:
        return ["A full disk: not tried, because mounting a small file system needs root."]
    try:
        with started(path, data=disk / "data") as service:
            ballast = disk / "ballast"
            with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(4096))
            with Traffic(service) as traffic:
                time.sleep(seconds)
            traffic.lists_went_on("full disk")
            expect(traffic.reports.get(503), f"full disk: no report was refused: {traffic.said()}")
            ballast.unlink()
            again = works_again(service, "full disk")
            before = count(service)
            with Traffic(service) as after:
                time.sleep(1)
            expect(set(after.reports) == {202}, f"after there was room again: {after.said()}")
            expect(count(service) - before == after.reports[202], "reports that were accepted after the fault are missing")
            service.stop()
            service.start()
    finally:
        subprocess.run(["umount", "-l", disk], check=False, capture_output=True)
    return [f"A full disk (a file system of {megabytes} MB, filled to the last block): {traffic.said()}. "
            f"With room again the first report was accepted after {again:.1f} s, and then all ({after.reports[202]})."]


def count(service):
    db = sqlite3.connect(f"file:{service.data / 'tumbler.sqlite'}?mode=ro", uri=True)
    try:
        return db.execute("SELECT COUNT(*) FROM report").fetchone()[0]
    finally:
        db.close()


def locked(path, seconds):
    """Another process holds the database for itself."""
    with started(path) as service:
        db = sqlite3.connect(service.data / "tumbler.sqlite", isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        with Traffic(service) as traffic:
            time.sleep(seconds)
        db.execute("ROLLBACK")
        db.close()
        traffic.lists_went_on("locked database")
        # None may have been accepted while nothing could be written; one that waited for the lock may be at its end.
        expect(seconds < 6 or traffic.reports.get(503), f"locked database: none was refused: {traffic.said()}")
        again = works_again(service, "locked database")
    return [f"A database that another process holds for {seconds} s (`BEGIN EXCLUSIVE`): {traffic.said()}. Once it was "
            f"free, a report was accepted within {again:.1f} s."]


def ended(service, stored):
    """SIGTERM with reports in flight and a database that takes none: how it ended. `stored` lets the database go on, and counts
    the reports in it."""
    with Traffic(service) as traffic:
        time.sleep(2)
        began = time.monotonic()
        status = service.stop()
        seconds = time.monotonic() - began
    accepted = traffic.reports.get(202, 0)
    found, log = stored(), (service.path / "service.log").read_text(errors="replace")
    expect(seconds <= MOST_SECONDS, f"after SIGTERM it took {seconds:.1f} s: {log[-2000:]}")
    expect(found >= accepted, f"of {accepted} reports with 202 there are {found}")
    expect(status == 0 or "with work left" in log, f"it ended with {status}: {log[-2000:]}")
    return f"it ended {seconds:.1f} s later (at most {MOST_SECONDS}: holds), with status {status}, and nothing with 202 was lost"


def locked_end(path, seconds):
    """SIGTERM while another process holds the database."""
    service = Service(path)
    service.start()
    service.publish()
    db = sqlite3.connect(service.data / "tumbler.sqlite", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")

    def stored():
        db.execute("ROLLBACK")
        db.close()
        return count(service)

    return [f"SIGTERM while another process holds the database: {ended(service, stored)}."]


def silent_end(path, seconds):
    """SIGTERM while the server of PostgreSQL stands still."""
    # Its user enters the folder.
    path.chmod(0o755)
    server = PostgreSQL(path / "pg")
    try:
        service = Service(path, settings=f"database: {server.address}")
        service.start()
        service.publish()
        server.stand_still()

        def stored():
            server.go_on()
            return int(server.sql("SELECT COUNT(*) FROM report"))

        return [f"SIGTERM while the server of PostgreSQL stands still (SIGSTOP): {ended(service, stored)}."]
    finally:
        server.go_on()
        server.stop()


def slow(path, seconds):
    """Another process takes the database for a second, again and again."""
    with started(path) as service:
        with Traffic(service) as traffic:
            db = sqlite3.connect(service.data / "tumbler.sqlite", isolation_level=None, timeout=30)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                db.execute("BEGIN IMMEDIATE")
                time.sleep(0.9)
                db.execute("ROLLBACK")
                time.sleep(0.1)
            db.close()
        traffic.lists_went_on("slow database")
        expect(traffic.reports.get(202), f"slow database: none was accepted: {traffic.said()}")
        expect(count(service) == traffic.reports[202], "slow database: not each 202 is there once")
        again = works_again(service, "slow database")
    return [f"A slow database (taken for 0.9 s of each second, for {seconds} s): {traffic.said()}. "
            f"Each 202 is there once; afterwards one took {again:.1f} s."]


def gone(path, seconds):
    """The database's folder is moved away, and comes back."""
    with started(path) as service:
        away = service.data.with_name("away")
        service.data.rename(away)
        with Traffic(service) as traffic:
            time.sleep(seconds)
        away.rename(service.data)
        traffic.lists_went_on("database gone")
        again = works_again(service, "database gone")
        # What was in flight when it went may be in it; what was accepted without a file at its place would be lost.
        expect(traffic.reports.get(503), f"database gone: none was refused: {traffic.said()}")
        accepted = traffic.reports.get(202, 0)
        expect(count(service) == accepted + 1, f"database gone: of {accepted} accepted there are {count(service) - 1}")
    return [f"A database whose folder is moved away for {seconds} s and comes back: {traffic.said()}. "
            f"Afterwards a report was accepted within {again:.1f} s, and what got 202 is there."]


def stopped(path, seconds):
    """The process itself stands still, as on a machine that is suspended."""
    with started(path) as service:
        connections = [service.connection() for _ in range(8)]
        for connection in connections:
            connection.connect()
        service.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        service.process.send_signal(signal.SIGCONT)
        again = works_again(service, "stopped process")
        for connection in connections:
            connection.close()
        expect(service.lists_are_served(), "stopped process: the list is not served")
    return [f"A process that stood still for {seconds} s: lists are served, a report was accepted after {again:.1f} s."]


def clock(path, seconds):
    """The clock of the machine jumps a year ahead, then two back."""
    library = next((str(file) for file in sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
    if library is None:
        return ["A clock that jumps: not tried, because libfaketime is not installed (Debian: faketime)."]
    said = []
    offset = path / "offset"
    offset.write_text("+0")
    environment = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    # libfaketime starts the program that it is loaded into anew, and loses its arguments: that may happen to env.
    prefix = ["env", *(f"{name}={value}" for name, value in environment.items()), "env"]
    with started(path) as plain:
        plain.stop()
        service = Service(path, prefix=prefix)
        service.start()
        try:
            for jump, expected in (("+0", 0), ("+365d", 365 * 86400), ("-365d", -365 * 86400), ("+0", 0)):
                offset.write_text(jump)
                before = count(service)
                with Traffic(service, pause=0.05) as traffic:
                    time.sleep(seconds)
                traffic.lists_went_on(f"clock at {jump}")
                expect(set(traffic.reports) == {202}, f"clock at {jump}: {traffic.said()}")
                expect(count(service) - before == traffic.reports[202], f"clock at {jump}: not each 202 is there once")
                db = sqlite3.connect(f"file:{service.data / 'tumbler.sqlite'}?mode=ro", uri=True)
                newest = db.execute("SELECT received_at FROM report ORDER BY number DESC LIMIT 1").fetchone()[0]
                db.close()
                expect(abs(newest - time.time() - expected) < 60, f"clock at {jump}: the service did not see the jump")
                for page in ("/", "/adoption", "/failures", "/alarms", "/audit", "/v1/status", "/metrics"):
                    answer = service.look(page)
                    expect(answer.status == 200, f"clock at {jump}: {page} was answered with {answer.status}")
                said.append(f"{jump}: {traffic.reports[202]} reports")
            expect(service.process.poll() is None, "the service ended: " + service.said())
        finally:
            service.kill()
        plain.start()
    return ["A clock that jumps a year ahead, two back and home again (libfaketime), each time with reports "
            "and every page: all reports were accepted and stored once, lists and pages were served (" + ", ".join(said) + ")."]


def prove(seconds=20):
    parts = [("full disk", full_disk, (min(seconds, 5),)), ("locked", locked, (seconds,)),
             ("locked end", locked_end, (seconds,)), ("silent end", silent_end, (seconds,)), ("slow", slow, (seconds,)),
             ("gone", gone, (min(seconds, 5),)), ("stopped", stopped, (min(seconds, 5),)), ("clock", clock, (1,))]
    lines, failed = [machine() + ".", ""], []
    for name, part, arguments in parts:
        with folder() as path:
            try:
                lines += ["* " + line for line in part(path, *arguments)]
            except Failure as failure:
                failed.append(f"{name}: {failure}")
                print(f"{name}: {failure}", flush=True)
    expect(not failed, "; ".join(failed))
    return lines
