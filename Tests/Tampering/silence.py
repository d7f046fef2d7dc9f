#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes each function of RuntimeIntegrity in turn answer nothing, in a program that has an agent of Frida in it.

    silence.py VICTIM [--without-agent] [--all] [--every N]

Each function's first bytes are replaced by "return zero", through the process's memory file: no tool but that one is
needed. Then the program is asked for a connection, and to look at everything (what the monitor does at random times).
Prints how many functions leave the agent noticed at the connection, how many only by the look at everything, how many
end the program (it does not connect then), and names those that silence both. Exit 1 when there is one.
With --without-agent nothing but the change itself is there to be noticed. With --all what the compiler makes for each
type (metadata, copies, comparisons) is tried, too; with --every N, each Nth function."""

import argparse
import collections
import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from program import with_servers  # noqa: E402

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent.parent / ".tools" / "frida17" / "bin" / "python"
# The endings of what the compiler makes, and the beginnings of types that look, keep or decide.
MADE = re.compile(r"(Wl|Ma|WO[a-z]|w[a-z]{2}|W[a-zA-Z]|Mr|TW|MD)(_.*|m|Tm)?$")
OURS = re.compile(
    "Machine|Detector|Ledger|Monitor|Policy|Regions|MapsLine|CopiedCode|Agent|NameParts|Answer|Printable|PageScope|Clock"
    "|LoadedCode|CheckedSlots"
)
# xor eax, eax; xor edx, edx; ret
NOTHING = bytes.fromhex("31c031d2c3")


def functions(program, everything):
    names = {}
    for line in subprocess.check_output(["nm", program], text=True).splitlines():
        match = re.fullmatch(r"([0-9a-f]+) [tT] (\$s16RuntimeIntegrity\S+)", line)
        if match and (everything or (OURS.search(match[2]) and not MADE.search(match[2]))):
            names.setdefault(int(match[1], 16), match[2])
    return names


def ask(process, command):
    """The answer, "ended", or "silent" when there is none in ten seconds."""
    try:
        process.stdin.write(command + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return "ended"
    while select.select([process.stdout], [], [], 10)[0]:
        line = process.stdout.readline()
        if not line:
            return "ended"
        if line.startswith(b"{"):
            return json.loads(line)
    return "silent"


def attempt(command, offset, with_agent):
    program = command[0]
    process = subprocess.Popen([*command, "--policy", "refuse"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env={"SWIFT_BACKTRACE": "enable=no"})  # fmt: skip
    attacker = None
    try:
        process.stdout.readline()
        if with_agent:
            read, write = os.pipe()
            attacker = subprocess.Popen([PYTHON, HERE / "attacker.py", "attach", "-", str(process.pid), str(write)],
                                        stdin=subprocess.PIPE, pass_fds=[write])  # fmt: skip
            os.close(write)
            with os.fdopen(read) as status:
                assert status.readline().startswith("ready")
        with open(f"/proc/{process.pid}/maps") as maps:
            base = int(next(line for line in maps if program in line).split("-")[0], 16)
        with open(f"/proc/{process.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(base + offset)
            memory.write(NOTHING)
        results = [ask(process, b"connect"), ask(process, b"look")]
    finally:
        process.kill()
        process.wait()
        if attacker:
            attacker.stdin.close()
            attacker.wait(20)
    if "ended" in results:
        return "ended"
    # What makes no connection at all lets nothing through, either.
    if results[0] == "silent":
        return "hangs"
    noticed = [isinstance(result, dict) and bool(result["signals"]) for result in results]
    return "connection" if noticed[0] else "look" if noticed[1] else "silenced"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("victim")
    parser.add_argument("--without-agent", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    program = str(Path(options.victim).resolve())
    servers, command = with_servers(program, Path(program).parent / "tampering")
    counts, named = collections.Counter(), collections.defaultdict(list)
    for offset, name in sorted(functions(program, options.all).items())[:: options.every]:
        result = attempt(command, offset, not options.without_agent)
        counts[result] += 1
        named[result].append(name)
    if servers:
        servers.end()
    print(dict(counts))
    for kind in ("look", "hangs", "silenced"):
        for name in named[kind]:
            print(kind, subprocess.check_output(["swift", "demangle", "--compact", name], text=True).strip())
    sys.exit(bool(named["silenced"]))


main()
