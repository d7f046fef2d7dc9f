# SPDX-License-Identifier: Apache-2.0
"""A service on loopback with a list published, for the tests beside this file: a project folder, a folder for the
database, one for its copies, a configuration, tokens, and a `systemctl` that starts and stops this service alone."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TUMBLER = Path(os.environ.get("TUMBLER", ROOT / ".build" / "debug" / "tumbler"))
NAME = "com.example.app"
LIST = f"/v1/lists/{NAME}/pins.json"
PINS = "sha256/2I9I2RNNyNq2lj1MPr4XP+7TnwEUUfmfIsWHKTvbOTg=,sha256/Hw8e4JH2DjiAJ5+wkHgwb9PtaQT+WZWKqzuGa74umL4="
PASSPHRASES = {f"{name}_PASSPHRASE": f"passphrase of {name}" for name in ("ROOT", "PINS")}

SYSTEMCTL = """#!/bin/sh
# Starts and stops the one service of this test.
set -eu
[ "$2" = tumbler ]
stop() {
    [ -f "$RUN/pid" ] || return 0
    kill -TERM "$(cat "$RUN/pid")" 2>/dev/null || :
    while kill -0 "$(cat "$RUN/pid")" 2>/dev/null; do sleep 0.05; done
    rm -f "$RUN/pid"
}
start() {
    : >"$RUN/out"
    setsid tumbler serve --config "$CONFIG" >"$RUN/out" 2>>"$RUN/errors" </dev/null &
    echo $! >"$RUN/pid"
    while [ ! -s "$RUN/out" ]; do
        kill -0 "$(cat "$RUN/pid")" || exit 1
        sleep 0.05
    done
}
case $1 in start) start ;; stop) stop ;; restart) stop && start ;; *) exit 64 ;; esac
"""


class Failure(Exception):
    pass


_held = []


def free_port():
    """A port of loopback for a server that reuses addresses. The kernel gives it to no other socket while this runs."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _held.append(holder)
    return holder.getsockname()[1]


class Scene:
    """A project and a service. `with Scene() as scene`; `start=False` for one that a page starts itself."""

    def __init__(self, start=True, settings="", environment=None, data=None, entry=""):
        self.place = tempfile.TemporaryDirectory()
        self.folder = Path(self.place.name)
        self.project = self.folder / "project"
        self.data = Path(data) / "data" if data else self.folder / "data"
        self.backups = Path(data) / "backups" if data else self.folder / "backups"
        for folder in (self.project, self.data, self.backups, self.folder / "bin", self.folder / "run"):
            folder.mkdir()
        for program in (TUMBLER, TUMBLER.with_name("tumbler-service")):
            (self.folder / "bin" / program.name).symlink_to(program)
        systemctl = self.folder / "bin" / "systemctl"
        systemctl.write_text(SYSTEMCTL)
        systemctl.chmod(0o755)
        self.config = self.folder / "tumbler-service.yaml"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("TUMBLER")},
            **PASSPHRASES, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "RUN": str(self.folder / "run"),
            "CONFIG": str(self.config), "DATA": str(self.data), "BACKUPS": str(self.backups), "SERVICE": self.address,
            "TUMBLER_LISTEN": f"127.0.0.1:{self.port}", **(environment or {}),
        }  # fmt: skip
        self.settings = settings
        self.entry = entry
        self.has_service = start

    def __enter__(self):
        try:
            self.run(
                f"tumbler init . --name {NAME} --domain api.example.com={PINS} --passphrase-env ROOT_PASSPHRASE "
                "--passphrase-env PINS_PASSPHRASE"
            )
            self.list = (self.project / "pins.json").read_bytes()
            if self.has_service:
                self.environment["TUMBLER_DATA_DIR"] = str(self.data)
                root = self.project / "root" / "1.json"
                self.config.write_text(f"names:\n  {NAME}: {{root: {root}{self.entry}}}\n{self.settings}")
                self.run('tumbler serve --migrate --config "$CONFIG"')
                self.tokens = {scope: self.token(scope) for scope in ("publish", "probe", "read", "operate")}
                reader = self.folder / "run" / "read.token"
                reader.touch(0o600)
                reader.write_text(self.tokens["read"] + "\n")
                self.environment["READ_TOKEN"] = str(reader)
                self.run("systemctl start tumbler")
                self.publish()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for file in (self.folder / "run" / "pid", self.project / "service" / "pid"):
            if file.exists():
                try:
                    os.kill(int(file.read_text()), signal.SIGTERM)
                except ProcessLookupError:
                    pass
        # What was told to end is given time to close its files.
        for _ in range(12_000):
            if not self.is_up():
                break
            time.sleep(0.05)
        self.place.cleanup()

    def is_up(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def run(self, commands, expected=0):
        """Runs lines of shell in the project folder."""
        done = subprocess.run(
            ["sh", "-eu", "-c", commands], cwd=self.project, env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=1_800,
        )  # fmt: skip
        if done.returncode != expected:
            said = (done.stdout + done.stderr)[-800:].strip().replace("\n", " | ")
            first = commands.strip().splitlines()[0]
            raise Failure(f"a block that begins with `{first}` ended with {done.returncode}: {said}")
        return done.stdout

    def token(self, scope):
        names = "" if scope in ("read", "operate") else f"--name {NAME}"
        return self.run(f'tumbler token create --scope {scope} {names} --config "$CONFIG"').strip()

    def ask(self, path, method="GET", body=None, **fields):
        """A request: its status and body; (0, b"") where nothing listens."""
        request = urllib.request.Request(
            self.address + path, data=body, method=method,
            headers={name.replace("_", "-"): value for name, value in fields.items()},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def look(self, path):
        """What the operator sees: its status and body."""
        return self.ask(path, Authorization=f"Bearer {self.tokens['read']}")

    def publish(self):
        body = b"[" + (self.project / "root" / "1.json").read_bytes() + b"," + self.list + b"]"
        status, said = self.ask(
            f"/v1/lists/{NAME}", "PUT", body, Authorization=f"Bearer {self.tokens['publish']}"
        )
        if status != 200:
            raise Failure(f"publishing was answered with {status}: {said[:300]}")

    def report(self, host="api.example.com"):
        body = json.dumps({"hostname": host, "validation-result": 1}).encode()
        return self.ask("/v1/reports", "POST", body, Content_Type="application/json")[0]

    def expect_serving(self, when):
        status, body = self.ask(LIST)
        if status != 200 or body != self.list:
            raise Failure(f"{when} the list is answered with {status} and {len(body)} bytes")


def blocks(page):
    """The ```sh blocks of a page."""
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def left_to_nightly(component):
    """Why a story with a real component is left out, as Tests/Components says it of tests; None where it is asked for."""
    wanted = os.environ.get("TUMBLER_COMPONENTS", "").split(",")
    return None if {"all", component} & set(wanted) else f"left to make nightly: {component}"


def outcome(name, story):
    """Runs a story and prints one line; whether it went well."""
    if not TUMBLER.exists():
        print(f"skip {name} the command line is not built: scripts/build", flush=True)
        return True
    try:
        skipped = story()
    except (Failure, subprocess.SubprocessError, OSError) as failure:
        print(f"not ok {name} {failure}", flush=True)
        return False
    print(f"skip {name} {skipped}" if skipped else f"ok {name}", flush=True)
    return True
