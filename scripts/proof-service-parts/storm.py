# SPDX-License-Identifier: Apache-2.0
"""One hour of a wrong pin: every installation reports the same host, and strangers invent hosts.

The hour is compressed: everything goes `HOUR / seconds` times as fast. What the service takes in a minute is raised by as
much, so the line of those who were turned away, and with it `Retry-After`, becomes shorter by as much by itself; the
backoff of a client is divided here. So what is taken, what is turned away and how often clients come back are those of an
hour. The service's own clocks (alarms, hours of the dashboard, samples) are not compressed. Where fewer installations send
than a storm has, what the service takes is lowered likewise. Each report has a source of its own, which a proxy that is
trusted names."""

import array
import asyncio
import collections
import json
import random
import subprocess
import threading
import time

from instances import LOOK, TURN, Webhook, until
from stage import NAME, Service, expect, folder, machine, percentile, report

HOUR = 3_600
LISTED = "api0.example.com"
# The reports that the service takes of all sources by default, in a minute and at once.
MINUTE, BURST = 60_000, 10_000
# What invents hosts has so many addresses.
STRANGERS = 1_000
# The backoff of a client of ours, in seconds: up to two minutes at first, up to four hours at last.
FIRST_WINDOW, LAST_WINDOW = 120, 14_400
# One client in so many is not ours and heeds nothing: it comes back a minute later, five times.
IMPATIENT, IMPATIENT_WAIT, IMPATIENT_TRIES = 5, 60, 5
CONNECTIONS = 128
MOST_MEMORY, MOST_DATABASE = 400_000_000, 2_048_000_000
VERSIONS = ("4.1", "4.2", "4.3")


def chain(path):
    """A leaf that an authority of the public web seems to have issued, with it: what a server shows whose key was changed
    before its list."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=path)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj",
            "/C=US/O=Let's Encrypt/CN=E9")
    openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={LISTED}")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
            "-out", "leaf.pem")
    return [(path / name).read_text() for name in ("leaf.pem", "ca.pem")]


def bodies(certificates):
    """The report of an installation, for each version of the app."""
    made = []
    for version in VERSIONS:
        members = json.loads(report(LISTED, version=version))
        members["served-certificate-chain"] = members["validated-certificate-chain"] = certificates
        made.append(json.dumps(members).encode())
    return made


class Connection(asyncio.Protocol):
    """A connection that sends one request at a time."""

    def __init__(self, storm):
        self.storm, self.number, self.buffer = storm, None, b""

    def connection_made(self, transport):
        self.transport = transport
        self.storm.idle.append(self)

    def send(self, number, request):
        self.number = number
        self.transport.write(request)

    def data_received(self, data):
        data = self.buffer + data
        head, found, body = data.partition(b"\r\n\r\n")
        fields = head.lower()
        length = int(fields.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        if not found or len(body) < length:
            self.buffer = data
            return
        self.buffer = b""
        wait = fields.partition(b"retry-after: ")[2].partition(b"\r\n")[0]
        number, self.number = self.number, None
        if b"connection: close" in fields:
            self.transport.close()
        else:
            self.storm.idle.append(self)
        self.storm.answered(number, int(head[9:12]), int(wait or 0))

    def connection_lost(self, error):
        if self in self.storm.idle:
            self.storm.idle.remove(self)
        if self.number is not None:
            # Not answered: it comes back as one that was told to wait a minute.
            number, self.number = self.number, None
            self.storm.answered(number, 0, 60)
        self.storm.lost += 1


class Storm:
    """Installations, each of which reports once in the hour, and again when it was turned away."""

    def __init__(self, address, installations, hosts, seconds, bodies):
        self.address, self.installations, self.hosts = address, installations, hosts
        self.seconds, self.bodies = seconds, bodies
        self.speed = HOUR / seconds
        # The one that was idle for longest sends next: the service closes none of them as idle while a request is on its way.
        self.idle, self.lost = collections.deque(), 0
        # Numbers of installations by the tenth of a second in which they come back.
        self.later = {}
        self.tries = bytearray(installations)
        self.statuses, self.stranger_statuses, self.waits = {}, {}, array.array("i")
        self.random = random.Random(17)
        self.came_back = self.next = self.invented = self.slot = 0

    def request(self, number):
        """Numbers from `installations` on are the strangers'."""
        if number < self.installations:
            body = self.bodies[number % len(self.bodies)]
            # Spread over all of IPv4: neighbours report at quite other times.
            source = number * 2_654_435_761 & 0xFFFFFFFF
        else:
            index = number - self.installations
            body = report(f"h{index}.invented.test", noted=f"h{index}.invented.test")
            source = 0xC6120000 + index % STRANGERS
        text = ".".join(str(source >> shift & 255) for shift in (24, 16, 8, 0))
        return (f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"X-Forwarded-For: {text}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body

    def answered(self, number, status, wait):
        if number >= self.installations:
            self.stranger_statuses[status] = self.stranger_statuses.get(status, 0) + 1
            return
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status not in (0, 429, 503):
            return
        if len(self.waits) < 1_000_000:
            self.waits.append(wait)
        self.tries[number] += self.tries[number] < 255
        tries = self.tries[number]
        if number % IMPATIENT == 0:
            if tries > IMPATIENT_TRIES:
                return
            after = IMPATIENT_WAIT / self.speed
        else:
            window = min(FIRST_WINDOW << min(tries - 1, 10), LAST_WINDOW)
            after = max(wait, self.random.uniform(0, window) / self.speed)
        due = time.monotonic() - self.began + after
        self.later.setdefault(max(int(due * 10), self.slot), array.array("i")).append(number)

    def due(self, passed):
        """The numbers of those who send now."""
        passed = min(passed, self.seconds)
        upto = int(self.installations * passed / self.seconds)
        invented = int(self.hosts * passed / self.seconds)
        numbers = list(range(self.next, upto))
        numbers += range(self.installations + self.invented, self.installations + invented)
        self.next, self.invented = upto, invented
        while self.slot <= passed * 10:
            back = self.later.pop(self.slot, ())
            self.slot += 1
            self.came_back += len(back)
            numbers += back
        return numbers

    async def run(self):
        loop = asyncio.get_running_loop()
        connect = lambda: loop.create_connection(  # noqa: E731
            lambda: Connection(self), self.address.hostname, self.address.port)
        for _ in range(CONNECTIONS):
            await connect()
        self.began, queue, position, opened = time.monotonic(), [], 0, 0
        while True:
            passed = time.monotonic() - self.began
            if passed < self.seconds:
                queue += self.due(passed)
            elif self.next < self.installations:
                queue += self.due(self.seconds)
            while self.idle and position < len(queue):
                number = queue[position]
                position += 1
                self.idle.popleft().send(number, self.request(number))
            if position > 100_000:
                del queue[:position]
                position = 0
            if passed >= self.seconds and position == len(queue) and len(self.idle) >= CONNECTIONS - (self.lost - opened):
                break
            while opened < self.lost:
                opened += 1
                await connect()
            await asyncio.sleep(0.002)
        self.took = time.monotonic() - self.began
        for connection in list(self.idle):
            connection.transport.abort()

    @property
    def waiting(self):
        """The number that come back after the hour."""
        return sum(len(numbers) for numbers in self.later.values())


class Watch(threading.Thread):
    """Asks for the list all the while, and looks at the service's memory."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.ended = service, threading.Event()
        self.memory, self.seconds, self.failed = [], [], 0

    def run(self):
        while not self.ended.wait(0.05):
            began = time.monotonic()
            try:
                self.failed += not self.service.lists_are_served()
            except OSError:
                self.failed += 1
            self.seconds.append(time.monotonic() - began)
            self.memory.append(self.service.memory())


def database(service):
    return sum(file.stat().st_size for file in service.data.glob("tumbler.sqlite*"))


def prove(installations, stands_for, hosts, seconds):
    """So many installations in so many seconds, in place of `stands_for` in an hour, and so many invented hosts."""
    speed, share = HOUR / seconds, installations / stands_for
    scaled = {name: max(1, round(value)) for name, value in {
        "totalPerMinute": MINUTE * speed * share, "totalBurst": BURST * share}.items()}
    with folder() as path:
        loaded, webhook = machine(), Webhook()
        (path / "hook").write_text(f"http://127.0.0.1:{webhook.server.server_address[1]}/hook")
        limits = ", ".join(f"{name}: {value}" for name, value in scaled.items())
        service = Service(path, settings=f"alerts: [{{type: webhook, urlFile: {path / 'hook'}, name: ops}}]\n"
                          f"reports: {{{limits}}}")
        service.start()
        service.publish()
        token = service.local("token", "create", "--scope", "read").strip()
        read = {"Authorization": f"Bearer {token}"}
        storm = Storm(service.address, installations, hosts, seconds, bodies(chain(path)))
        watch, idle, empty, cpu = Watch(service), service.memory(), database(service), service.cpu()
        watch.start()
        asyncio.run(storm.run())
        watch.ended.set()
        watch.join()
        used = (service.cpu() - cpu) / storm.took
        until(lambda: webhook.events("failure-rate"), TURN + 2 * LOOK, "no alarm of a storm came")
        page = service.ask("GET", f"/failures?host={LISTED}", headers=read)
        status = json.loads(service.ask("GET", "/v1/status", headers=read).body)
        size = database(service)
        ended = service.stop()
    accepted, turned = storm.statuses.get(202, 0), storm.statuses.get(429, 0)
    strangers = sum(storm.stranger_statuses.values())
    groups = [group for group in status["groups"] if group["host"] == LISTED]
    shown = sum(group["count"] for group in groups)
    rates = [host for host in status["hosts"] if host["host"] == LISTED]
    told = [message for message in webhook.told if message["event"] == "firing" and LISTED in json.dumps(message)]
    others = [message["key"] for message in webhook.told if message not in told]
    waits = sorted(storm.waits)
    lines = [
        f"{installations:,} installations, in place of {stands_for:,}, report {LISTED} in an hour, each from a source of its "
        f"own, and {STRANGERS:,} addresses of strangers {hosts:,} invented hosts; the hour took {storm.took:.0f} s, {HOUR / storm.took:.1f} times "
        f"as fast, with {', '.join(f'{name} {value:,}' for name, value in scaled.items())} to match; {loaded}.", "",
        "| what | |", "|---|---:|",
        f"| reports that arrived | {sum(storm.statuses.values()):,} |",
        f"| of them from installations that came back | {storm.came_back:,} |",
        f"| answered with 202 | {accepted:,} |",
        f"| answered with 429 | {turned:,} |",
        f"| answered otherwise, or not at all | {sum(storm.statuses.values()) - accepted - turned:,} |",
        f"| installations that come back after the hour | {storm.waiting:,} |",
        f"| `Retry-After` (s): least, median, most | "
        f"{waits[0] if waits else 0:,}, {percentile(waits, 0.5):,.0f}, {waits[-1] if waits else 0:,} |",
        f"| strangers' reports: 202, 429 | {storm.stranger_statuses.get(202, 0):,}, "
        f"{storm.stranger_statuses.get(429, 0):,} |",
        f"| failures of {LISTED} on its page | {shown:,} |",
        f"| the likely cause there | {groups[0]['cause'] if groups else 'none'} |",
        f"| lists asked meanwhile, and not served | {len(watch.seconds):,}, {watch.failed} |",
        f"| a list: median, p99 (ms) | {percentile(watch.seconds, 0.5) * 1e3:.1f}, "
        f"{percentile(watch.seconds, 0.99) * 1e3:.1f} |",
        f"| resident memory: before, most (MB) | {idle / 1e6:.0f}, {max(watch.memory) / 1e6:.0f} |",
        f"| database: before, after (MB) | {empty / 1e6:.1f}, {size / 1e6:.1f} |",
        f"| of a core | {used * 100:.0f} % |",
        f"| alarms told: of {LISTED}, others | {len(told)}, {len(others)} |"]
    holds(lines, [
        (ended == 0, f"the service ended with {ended}"),
        (set(storm.statuses) <= {202, 429}, f"reports were answered with {storm.statuses}"),
        (turned, "nothing was turned away: this was no storm"),
        (page.status == 200 and LISTED.encode() in page.body, f"the page of failures: {page.status}"),
        (groups and status["groups"][0]["host"] == LISTED, "the listed host is not first among the failures"),
        (groups and all(group["kind"] == "rotation" for group in groups),
         f"the cause is not told: {[group['kind'] for group in groups]}"),
        # Each 202 is there; of 429 one in a hundred is, at most.
        (accepted <= shown <= accepted + turned // 100 + 1, f"{shown:,} failures are shown, {accepted:,} were accepted"),
        (shown * 10 >= installations, f"{shown:,} is another order of magnitude than {installations:,}"),
        (rates and rates[0]["pinFailures"] * 10 >= installations, f"the last hour of the listed host: {rates}"),
        (strangers == hosts, f"{strangers} reports of strangers were answered"),
        (not watch.failed, f"{watch.failed} lists were not served"),
        (max(watch.memory) < MOST_MEMORY, f"{max(watch.memory) / 1e6:.0f} MB of memory"),
        (size < MOST_DATABASE, f"{size / 1e6:.0f} MB of database"),
        # One message each, told again when it grew tenfold (docs/decisions/0094).
        (len({message["key"] for message in told}) == 1 and len(told) <= len(str(installations)),
         f"of {LISTED} people were told {len(told)} times: {told}"),
        (len(set(others)) <= 1 and len(others) <= len(str(hosts)), f"people were told of {others}"),
    ])
    return lines


def holds(lines, checks):
    """All that does not hold, with the figures."""
    broken = [what for is_so, what in checks if not is_so]
    expect(not broken, "\n".join([*lines, "", *broken]))
