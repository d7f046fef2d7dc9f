# SPDX-License-Identifier: Apache-2.0
"""Two and four instances of the service on one PostgreSQL: people told once, limits shared, nothing lost that was accepted,
and none that waits for another to take reports."""

import functools
import http.client
import http.server
import json
import random
import shutil
import threading
import time

import waits
from postgresql import PostgreSQL
from stage import NAME, Service, expect, folder, machine, post

SENDERS = 4
# The time that a lost instance keeps the others from looking for alarms, and their interval, in seconds.
TURN, LOOK = 60, 15


class Webhook:
    """The receiver of alarms: keeps what is posted."""

    def __init__(self):
        told = self.told = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def events(self, kind):
        return [(event["event"], event["key"]) for event in list(self.told) if event["kind"] == kind]

    def messages_of(self, kind, subject):
        """The messages that tell of one alarm, alone or with others."""
        return [event for event in list(self.told) if event["kind"] == kind and event["event"] == "firing"
                and any(alarm["subject"] == subject for alarm in event["alarms"])]


class Sender(threading.Thread):
    """Sends reports to an instance, each about a host of its own, with any outcome, until it is told to end."""

    def __init__(self, service, mark, invents=False):
        """invents: no list has the hosts."""
        super().__init__(daemon=True)
        self.service, self.mark, self.ended, self.invents = service, mark, threading.Event(), invents
        self.accepted, self.answers = [], {}

    def run(self):
        connection, number = None, 0
        while not self.ended.is_set():
            host = f"{self.mark}-{number}.example.com"
            number += 1
            try:
                connection = connection or self.service.connection(timeout=60)
                noted = {"noted": host} if self.invents else {}
                status = post(connection, random.getrandbits(24), host, **noted)
                if status == 202:
                    self.accepted.append(host)
                if status in (429, 503):
                    time.sleep(0.02)
            except (OSError, http.client.HTTPException) as error:
                status, connection = type(error).__name__, None
                time.sleep(0.02)
            self.answers[status] = self.answers.get(status, 0) + 1


class Load:
    """Senders at every instance, as long as the block lasts."""

    def __init__(self, instances, mark, each=SENDERS, invents=False):
        """invents: half of them do."""
        self.senders = [Sender(service, f"{mark}i{index}s{number}", invents and number % 2 == 1)
                        for index, service in enumerate(instances) for number in range(each)]

    def __enter__(self):
        for sender in self.senders:
            sender.start()
        return self

    def __exit__(self, *_):
        for sender in self.senders:
            sender.ended.set()
        for sender in self.senders:
            sender.join(timeout=90)
            expect(not sender.is_alive(), "a sender waits for an answer for 90 s")

    @property
    def accepted(self):
        return [host for sender in self.senders for host in sender.accepted]

    @property
    def listed(self):
        return [host for sender in self.senders if not sender.invents for host in sender.accepted]

    @property
    def answers(self):
        counts = {}
        for sender in self.senders:
            for status, count in sender.answers.items():
                counts[status] = counts.get(status, 0) + count
        return counts


# So high that the load meets none.
UNLIMITED = "reports: {totalBurst: 1000000, totalPerMinute: 1000000}"


def instances(count, path, database, webhook, settings=UNLIMITED):
    """So many of them, that listen, on a database on which the list is published."""
    (path / "hook").write_text(f"http://127.0.0.1:{webhook.server.server_address[1]}/hook")
    lines = f"database: {database.address}\nalerts: [{{type: webhook, urlFile: {path / 'hook'}, name: ops}}]\n{settings}"
    all_of_them = [Service(path, settings=lines)]
    all_of_them[0].start()
    all_of_them[0].publish()
    for number in range(1, count):
        folder_of_it = path / f"instance{number}"
        folder_of_it.mkdir()
        shutil.copytree(path / "app", folder_of_it / "app")
        all_of_them.append(Service(folder_of_it, settings=lines))
        all_of_them[-1].start()
    return all_of_them


def each_is_there_once(database, wanted, what, sums_hold=True):
    """sums_hold: no group left, with its reports, and none was laid down."""
    rows = (line.split("\t") for line in database.sql("SELECT host, COUNT(*) FROM report GROUP BY host").splitlines())
    found = {host: int(count) for host, count in rows}
    lost = [host for host in wanted if host not in found]
    expect(not lost, f"{what}: {len(lost)} reports with 202 are gone, such as {lost[:3]}")
    twice = [host for host, count in found.items() if count != 1]
    expect(not twice, f"{what}: {len(twice)} reports are there more than once: {twice[:3]}")
    sums = database.sql("""SELECT (SELECT COUNT(*) FROM report), (SELECT SUM(count) FROM group_count),
        (SELECT SUM(count) FROM group_hour), (SELECT SUM(count) FROM report_hour)""").split()
    expect(len(set(sums)) == 1 or not sums_hold, f"{what}: the sums differ: {sums}")


def until(holds, seconds, what):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if holds():
            return time.monotonic() - began
        time.sleep(0.2)
    expect(False, f"{what}: not within {seconds} s")


def kills(database, every, times):
    wanted = []
    for number in range(times):
        victim = every[number % len(every)]
        with Load(every, f"k{number}") as load:
            time.sleep(random.uniform(0.2, 1))
            victim.kill()
            time.sleep(0.3)
            victim.start()
            time.sleep(0.3)
        wanted += load.accepted
        each_is_there_once(database, wanted, f"kill {number + 1}")
    for service in every:
        expect(service.lists_are_served(), "after the kills a list is not served")
        service.local("audit-log", "verify")
    expect(wanted, "no report was accepted: nothing was proved")
    return wanted, [f"One of the {words(every)} killed {times} times (signal 9, in turns) under {len(every) * SENDERS} "
                    f"senders: {len(wanted):,} reports had been answered with 202; each is there once, and all sums say so."]


def lost_database(database, every, seconds, wanted):
    with Load(every, "db") as load:
        time.sleep(1)
        database.crash()
        began = time.monotonic()
        served = 0
        while time.monotonic() - began < seconds:
            for service in every:
                expect(service.lists_are_served(), "without the database a list is not served")
                served += 1
            time.sleep(0.05)
        database.start()
        for service in every:
            until(lambda: post(service.connection(), 1, f"again{id(service)}.example.com") == 202, 60,
                  "the database came back, and reports are still refused")
        time.sleep(1)
    expect(set(load.answers) <= {202, 503}, f"without the database: {load.answers}")
    expect(load.answers.get(503), f"without the database no report was refused: {load.answers}")
    each_is_there_once(database, wanted + load.accepted, "after the database was gone")
    return [f"PostgreSQL crashed (its processes ended at once) and was away for {seconds} s: {served} lists were served "
            f"meanwhile by all; reports {load.answers[202]:,} × 202, {load.answers[503]:,} × 503. Each 202 is there once."]


def alarms(database, every, webhook):
    secret = every[0].local("token", "create", "--scope", "publish", "--name", NAME).strip()
    answer = every[1].ask("PUT", f"/v1/lists/{NAME}", b"[", {"Authorization": "Bearer " + secret})
    expect(answer.status == 422, f"a broken publication was answered with {answer.status}")
    refused = ("firing", f"publish-refused:{NAME}")
    first = until(lambda: refused in webhook.events("publish-refused"), TURN + 2 * LOOK, "no alarm of a refusal came")
    lines = [f"A refused publication was told after {first:.0f} s"]
    # The instance that held the turn is gone, or another one: the others go on where it was.
    every[0].kill()
    time.sleep(1)
    # The load alarmed, and what begins within the hour would join its message (docs/decisions/0051).
    database.sql("UPDATE alarm_message SET begun_at = begun_at - 3600 WHERE kind = 'failure-rate'")
    connection = every[1].connection()
    for number in range(40):
        expect(post(connection, number, f"alarm{number}.example.com", noted="api1.example.com") == 202, "a report was refused")
    second = until(lambda: webhook.messages_of("failure-rate", "api1.example.com"), TURN + 3 * LOOK,
                   "no alarm of many failures came")
    every[0].start()
    time.sleep(TURN + 2 * LOOK)
    told = len(webhook.messages_of("failure-rate", "api1.example.com"))
    expect(told == 1, f"of many failures people were told {told} times")
    lines.append(f"; one of the {words(every)} killed then, and of many failures another told after {second:.0f} s")
    expect(webhook.events("publish-refused") == [refused],
           f"of a refused publication people were told {webhook.events('publish-refused')}")
    return ["".join(lines) + f". Each was told once, by whichever of the {words(every)}."]


def limits(count, path, seconds):
    """What all sources together may send: more than that is offered to each."""
    path.mkdir()
    database, webhook = PostgreSQL(path / "pg"), Webhook()
    burst, rate = 200, 600
    try:
        every = instances(count, path, database, webhook, f"reports: {{totalBurst: {burst}, totalPerMinute: {rate}}}")
        # The earlier ones learn of the last when they count next.
        time.sleep(LOOK + 3)
        began = time.monotonic()
        with Load(every, "limit") as load:
            time.sleep(seconds)
        elapsed = time.monotonic() - began
        allowed = burst + rate / 60 * elapsed
        taken = len(load.accepted)
        expect(0.8 * allowed <= taken <= 1.02 * allowed + 2, f"limits: {taken} taken, {allowed:.0f} allowed")
        expect(load.answers.get(429), "limits: none was turned away")
        for service in every:
            service.kill()
    finally:
        database.stop()
    return [f"A limit of {burst} at once and {rate} a minute for all sources: in {elapsed:.0f} s the {words(every)} took "
            f"{taken} of {allowed:.0f} that are allowed ({load.answers[429]:,} × 429), {taken / allowed - 1:+.1%}."]


def words(every):
    return {2: "two", 4: "four"}[len(every)]


def prove(is_short):
    lines = [machine() + ".", ""]
    # Four are killed less often: each round starts one and looks at all.
    for count, times in ((2, 2 if is_short else 50), (4, 2 if is_short else 20)):
        lines += [f"{count} instances:", "", *prove_some(count, times, is_short), ""]
    return lines[:-1]


def prove_some(count, times, is_short):
    lines = []
    with folder() as path:
        path.chmod(0o755)
        database, webhook = PostgreSQL(path / "pg"), Webhook()
        try:
            every = instances(count, path, database, webhook)
            wanted, said = kills(database, every, times)
            lines += ["* " + line for line in said]
            lines += ["* " + line for line in lost_database(database, every, 2 if is_short else 15, wanted)]
            if not is_short:
                lines += ["* " + line for line in alarms(database, every, webhook)]
            said, listed = waits.prove(database, every, functools.partial(Load, every), 3 if is_short else 20, words(every))
            lines += ["* " + line for line in said]
            each_is_there_once(database, listed, "after invented hosts", sums_hold=False)
            if not is_short:
                lines += ["* " + line for line in limits(count, path / "limits", 30)]
            for service in every:
                expect(service.stop() == 0, "an instance ended with a failure")
        finally:
            database.stop()
    return lines
