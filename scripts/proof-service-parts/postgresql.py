# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the proofs: in a folder of its own, reached by a socket in it."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

from stage import Failure, expect

NOBODY = 65_534


def programs():
    """The folder of the server's programs; `None` where there are none."""
    candidates = [pathlib.Path(found).resolve().parent] if (found := shutil.which("postgres")) else []
    candidates += sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((path for path in candidates if all((path / name).exists() for name in ("initdb", "postgres", "psql"))),
                None)


class PostgreSQL:
    """One server, with one empty database."""

    def __init__(self, path):
        self.programs = programs()
        expect(self.programs, "PostgreSQL is not installed (Debian: postgresql)")
        self.path = pathlib.Path(path)
        self.path.mkdir()
        self.process = None
        # PostgreSQL does not run as root.
        self.prefix = []
        if os.geteuid() == 0:
            os.chown(self.path, NOBODY, NOBODY)
            self.prefix = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        self.run("initdb", "-D", "data", "-U", "owner", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync")
        self.start()
        self.address = self.create("tumbler")

    def create(self, name):
        """Makes an empty database; its address as the service's configuration has it."""
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'", "postgres")
        return f"postgres://owner@/{name}?host={self.path}"

    def run(self, program, *arguments, timeout=120):
        done = subprocess.run([*self.prefix, str(self.programs / program), *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=self.path, timeout=timeout)
        expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def sql(self, statement, database="tumbler", timeout=120):
        """What psql prints: a row a line, columns apart by tabs."""
        return self.run("psql", *self.session(database), "-c", statement, timeout=timeout)

    def copy(self, table, columns, rows, database="tumbler"):
        """Copies rows into a table. Texts are without tabs, line ends and backslashes; bytes are written in hex."""
        def text(value):
            return "\\N" if value is None else "\\\\x" + value.hex() if isinstance(value, bytes) else str(value)

        psql = self.psql(database)
        lines = "".join("\t".join(map(text, row)) + "\n" for row in rows)
        said = psql.communicate(f"COPY {table} ({columns}) FROM STDIN;\n{lines}\\.\n".encode())[1]
        expect(psql.returncode == 0, f"COPY {table} ended with {psql.returncode}: {said.decode()}")

    def cpu(self):
        """Seconds of a core that its processes have used, those that have ended among them."""
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        ticks = 0
        for process in [self.process.pid, *map(int, children.stdout.split())]:
            try:
                fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            # Of its own, and of children that have ended.
            ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def session(self, database):
        """The arguments of psql for a session: the first error ends it."""
        return ["-X", "-h", str(self.path), "-U", "owner", "-d", database, "-v", "ON_ERROR_STOP=1", "-qAt", "-F", "\t"]

    def psql(self, database):
        """A psql that takes statements from a pipe, in one session."""
        return subprocess.Popen([*self.prefix, str(self.programs / "psql"), *self.session(database)], cwd=self.path,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start(self):
        log = open(self.path.parent / "postgresql.log", "ab")
        self.process = subprocess.Popen(
            [*self.prefix, str(self.programs / "postgres"), "-D", "data", "-k", str(self.path), "-c", "listen_addresses=",
             "-c", "shared_buffers=64MB"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.path)
        log.close()
        for _ in range(300):
            ready = subprocess.run([*self.prefix, str(self.programs / "pg_isready"), "-h", str(self.path)],
                                   capture_output=True)
            if ready.returncode == 0:
                return
            time.sleep(0.1)
        raise Failure("PostgreSQL does not start: " + (self.path.parent / "postgresql.log").read_text()[-1000:])

    def crash(self):
        """Ends as a machine does that loses its power: what was committed is in its log."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=30)

    def signal(self, number):
        """Sends a signal to the server and to the process of each session."""
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        for process in [self.process.pid, *map(int, children.stdout.split())]:
            # One that has ended since needs no signal.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def stand_still(self):
        """All of it stops where it is, and keeps its connections, as on a machine that hangs."""
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=60)
