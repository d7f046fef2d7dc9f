# SPDX-License-Identifier: Apache-2.0
"""The programs that are attacked, and the servers that they talk to: for the scripts beside this file."""

import json
import subprocess
from pathlib import Path


class Program:
    """The victim: a line in, a line of JSON out."""

    def __init__(self, process, given, taken):
        self.process, self.given, self.taken = process, given, taken

    @classmethod
    def start(cls, arguments, environment=None, errors=None):
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                   env=environment)  # fmt: skip
        return cls(process, process.stdin, process.stdout)

    def hear(self):
        # An agent of Frida 17 that joins a portal writes notes of its libraries to the program's standard output.
        while line := self.taken.readline():
            if line.startswith(b"{"):
                return json.loads(line)
        raise RuntimeError("the program ended")

    def ask(self, command):
        self.given.write(command.encode() + b"\n")
        self.given.flush()
        return self.hear()

    def end(self):
        try:
            self.given.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def with_servers(victim, folder):
    """Starts the servers of a victim that needs some. Returns them, or None, and the beginning of a victim's command.

    `TamperingVictim` talks to servers, and reads in the folder where they are; `SmallVictim` connects to a port."""
    program = str(Path(victim).resolve())
    if Path(program).name != "TamperingVictim":
        return None, [program, "9"]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Victims that run as another user read it, too.
    folder.chmod(0o755)
    servers = Program.start([program, "serve", str(folder)])
    servers.hear()
    return servers, [program, str(folder)]
