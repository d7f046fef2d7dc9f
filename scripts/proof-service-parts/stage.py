# SPDX-License-Identifier: Apache-2.0
"""A service on loopback for the proofs: a project folder, a configuration, the process, and requests to it."""

import atexit
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "com.example.app"
# The time that a service may take until it listens: with 10 million reports it has no more to do than with none.
START_SECONDS = 60


class Failure(Exception):
    """A proof that does not hold, or could not be made: what, and why."""


def expect(holds, what):
    if not holds:
        raise Failure(what)


class Limits:
    """Measurements with what each may be at most, as scripts/bench-thresholds reads them: what is asked for at least is turned
    round."""

    def __init__(self, section):
        self.lines, self.broken = [f"{section}:"], []

    def limit(self, name, value, most, unit=""):
        """Adds one, rounded for both alike."""
        digits = 3 if isinstance(most, float) else 0
        holds = round(value, digits) <= round(most, digits)
        self.lines.append(f"  {name}: {value:.{digits}f}{unit} (at most {most:.{digits}f}{unit}): {'holds' if holds else 'DOES NOT HOLD'}")
        if not holds:
            self.broken.append(name)

    def page(self, lines):
        """The lines of a page with these below; fails, with all of them, where one does not hold."""
        lines = [*lines, "", "```", *self.lines, "```"]
        expect(not self.broken, "\n".join(lines) + f"\nabove its limit: {'; '.join(self.broken)}")
        return lines


def binary():
    """The command line that is proved: $TUMBLER, else the release build, else the debug build, whichever is newer."""
    if named := os.environ.get("TUMBLER"):
        return pathlib.Path(named).resolve()
    built = [path for kind in ("release", "debug") if (path := ROOT / ".build" / kind / "tumbler").exists()]
    expect(built, "tumbler is not built: scripts/build")
    return max(built, key=lambda path: path.stat().st_mtime)


def pin(text):
    return "sha256/" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@contextlib.contextmanager
def folder():
    """A folder that is removed at the end. TUMBLER_PROOF_FOLDER says where, for what is large."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="tumbler-proof-", dir=os.environ.get("TUMBLER_PROOF_FOLDER")))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Service:
    """One `tumbler serve`, which may be killed and started again on the same folder."""

    def __init__(self, path, data=None, settings="", prefix=(), tls=None, hosts=3, environment=None, admin=False):
        """admin: whether the operator has a listener of their own."""
        self.path = pathlib.Path(path)
        self.data = pathlib.Path(data or self.path / "data")
        self.prefix = list(prefix)
        self.environment = dict(os.environ, **(environment or {}))
        self.tumbler = binary()
        self.process = None
        # A proof that fails leaves nothing running.
        atexit.register(self.kill)
        self.address = self.operator = None
        if not (self.path / "app").exists():
            domains = [f"--domain=api{number}.example.com={pin(f'now {number}')},{pin(f'next {number}')}"
                       for number in range(hosts)]
            self.run("init", str(self.path / "app"), "--name", NAME, "--insecure-plaintext",
                     *domains)
        lines = ["listen: 127.0.0.1:0", f"dataDir: {self.data}", "trustedProxies: [127.0.0.1]",
                 f"names: {{{NAME}: {{root: {self.path / 'app/root/1.json'}}}}}", settings]
        self.admin = admin
        if admin:
            lines.append("adminListen: 127.0.0.1:0")
        if tls:
            lines.append(f"tls: {{certificate: {tls[0]}, key: {tls[1]}}}")
        self.configuration = self.path / "service.yaml"
        self.configuration.write_text("\n".join(lines) + "\n")

    def run(self, *arguments, check=True, timeout=120):
        """Runs the command line; its output."""
        done = subprocess.run([str(self.tumbler), *arguments], capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, cwd=self.path, env=self.environment)
        if check:
            expect(done.returncode == 0, f"tumbler {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def local(self, *arguments, check=True):
        """A command that works on the service's database."""
        return self.run(*arguments, "--config", str(self.configuration), check=check)

    def start(self):
        """Starts it, and waits until it listens; the seconds that took."""
        began = time.monotonic()
        self.log = open(self.path / "service.log", "ab")
        self.process = subprocess.Popen(
            [*self.prefix, str(self.tumbler), "serve", "--config", str(self.configuration)], stdout=subprocess.PIPE,
            stderr=self.log, stdin=subprocess.DEVNULL, cwd=self.path, env=self.environment)
        timer = threading.Timer(START_SECONDS, self.process.kill)
        timer.start()
        # One line for each listener, in any order.
        lines = [self.process.stdout.readline().decode() for _ in range(2 if self.admin else 1)]
        timer.cancel()
        found = {line.split()[0]: urllib.parse.urlsplit(line.split()[1]) for line in lines if " http" in line}
        expect(set(found) == ({"operator", "public"} if self.admin else {"operator"}),
               f"the service does not start ({self.process.poll()}): {lines}{self.said()}")
        self.operator = found["operator"]
        self.address = found.get("public", self.operator)
        return time.monotonic() - began

    def said(self):
        return (self.path / "service.log").read_text(errors="replace")[-2000:]

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.log.close()
            self.process = None

    def stop(self):
        """Ends it as an operator does; its status."""
        process = self.process
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("the service did not end within 30 s of SIGTERM") from None
        self.kill()
        return status

    def publish(self):
        """Publishes the list; with a token made for it. Makes the one that reads, too, while all is well."""
        self.reader()
        secret = self.local("token", "create", "--scope", "publish", "--name", NAME).strip()
        # Byte for byte: the first root must be the configured one.
        envelopes = [(self.path / "app" / name).read_bytes() for name in ("root/1.json", "pins.json")]
        answer = self.ask("PUT", f"/v1/lists/{NAME}", b"[" + b",".join(envelopes) + b"]",
                          {"Authorization": "Bearer " + secret}, address=self.operator)
        expect(answer.status == 200, f"publishing was answered with {answer.status}: {answer.body[:300]}")

    def connection(self, timeout=30, address=None):
        address = address or self.address
        return http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, timeout=30, address=None):
        connection = self.connection(timeout, address)
        try:
            return exchange(connection, method, path, body, headers)
        finally:
            connection.close()

    def reader(self):
        """The field with a token that reads: made once for the folder."""
        file = self.path / "read.token"
        if not file.exists():
            file.write_text(self.local("token", "create", "--scope", "read", "--label", "proof"))
        return {"Authorization": "Bearer " + file.read_text().strip()}

    def look(self, page, timeout=30):
        """Requests an operator's page."""
        return self.ask("GET", page, headers=self.reader(), timeout=timeout, address=self.operator)

    def lists_are_served(self):
        answer = self.ask("GET", f"/v1/lists/{NAME}/pins.json")
        return answer.status == 200 and answer.body == (self.path / "app/pins.json").read_bytes()

    def memory(self):
        """Resident memory, in bytes."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise Failure("the process has no resident memory: it is gone")

    def cpu(self):
        """Seconds of a core that it has used."""
        return cpu(self.process.pid)

    def metrics(self):
        answer = self.look("/metrics")
        expect(answer.status == 200, f"/metrics was answered with {answer.status}")
        lines = (line.rsplit(" ", 1) for line in answer.body.decode().splitlines() if line and line[0] != "#")
        return {name: float(value) for name, value in lines}


class Answer:
    def __init__(self, status, headers, body, seconds):
        self.status, self.headers, self.body, self.seconds = status, headers, body, seconds


def exchange(connection, method, path, body=None, headers=None):
    """One request on a connection; the answer with the seconds until its last byte."""
    began = time.monotonic()
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    content = response.read()
    return Answer(response.status, response.headers, content, time.monotonic() - began)


def cpu(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(host, noted="api0.example.com", reason="no-matching-pin", version="1.0"):
    """A failure report of one of our clients, as bytes."""
    return json.dumps({
        "date-time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "hostname": host, "port": 443,
        "noted-hostname": noted, "include-subdomains": True, "enforce-pinning": True, "served-certificate-chain": [],
        "validated-certificate-chain": [], "known-pins": [f'pin-sha256="{pin("now 0")[7:]}"'],
        "app-bundle-id": NAME, "app-version": version, "app-platform": "IOS", "app-platform-version": "17.1",
        "validation-result": 1,
        "tumbler": {"list-name": NAME, "list-version": 1, "reason": reason, "signals": []}}).encode()


def address(number):
    """A made-up source: limits are by IPv4 address."""
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def post(connection, number, host, **members):
    """Sends one report from a made-up source; the status."""
    headers = {"Content-Type": "application/json", "X-Forwarded-For": address(number)}
    return exchange(connection, "POST", "/v1/reports", report(host, **members), headers).status


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def median(values):
    return percentile(values, 0.5)


def machine():
    """What else the machine did, for the reader of the figures."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began"
