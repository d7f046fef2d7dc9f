#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes down what can be observed of a process from outside, for the tests of the detectors.

    record.py PID FOLDER [--whole]      (--whole: mappings that are not executable, too)

`pages` comes from smaps ("Anonymous:"), which is not the way by which RuntimeIntegrity itself looks; `peers` from
/proc/net/tcp. Needs the rights to read the process's files."""

import os
import re
import sys
from pathlib import Path


def connections(pid):
    """The ports at the other ends of established TCP connections, by the inode of their sockets."""
    ports = {}
    for name in ("tcp", "tcp6"):
        path = Path(f"/proc/{pid}/net/{name}")
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            words = line.split()
            if words[3] == "01":
                ports[words[9]] = int(words[2].rsplit(":", 1)[1], 16)
    return ports


def shown(line):
    """A line of mappings without the folders of the recording machine."""
    return re.sub(r"(?<= )/(?!usr/|lib|dev/|memfd:|proc/|anon)\S*/", "/opt/app/", line)


def record(pid, folder, whole=False):
    process, folder = Path(f"/proc/{pid}"), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, lines):
        (folder / name).write_text("".join(line + "\n" for line in lines))

    maps = [shown(line) for line in (process / "maps").read_text().splitlines()]
    write("maps", [line for line in maps if whole or line.split()[1][2] == "x"])
    status = (process / "status").read_text().splitlines()
    kept = r"Name|State|Tgid|Pid|PPid|TracerPid|Uid|FDSize|Threads|Vm"
    write("status", [line for line in status if re.match(kept, line)])
    environment = (process / "environ").read_bytes().split(b"\0")
    # What loaders read; the rest is private to the recording machine.
    kept = [entry.decode() for entry in environment if re.match(rb"(LD|DYLD)_|LANG=", entry)]
    write("environ", [re.sub(r"/(?!usr/|lib)[^:]*/", "/opt/app/", entry) for entry in kept])
    write("threads", [(task / "comm").read_text().strip() for task in sorted((process / "task").iterdir())])
    ports, descriptors, peers = connections(pid), [], []
    for descriptor in sorted((process / "fd").iterdir(), key=lambda each: int(each.name)):
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue
        descriptors.append(shown(f"{descriptor.name} {target}"))
        socket = re.fullmatch(r"socket:\[(\d+)\]", target)
        if socket and socket[1] in ports:
            peers.append(str(ports[socket[1]]))
    write("descriptors", descriptors)
    write("peers", peers)
    parent = re.search(r"PPid:\t(\d+)", (process / "status").read_text())[1]
    write("parent", [Path(f"/proc/{parent}/comm").read_text().strip()])
    pages, region = [], None
    for line in (process / "smaps").read_text().splitlines():
        mapping = re.match(r"[0-9a-f]+-[0-9a-f]+ ..x(.) \S+ \S+ (\d+)\s*(.*)", line)
        if mapping:
            region = mapping[3] if mapping[1] == "p" and mapping[2] != "0" else None
        elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            region = None
        elif line.startswith("Anonymous:") and region and (count := int(line.split()[1]) // 4):
            pages.append(shown(f"{count} {region}"))
    write("pages", pages)


if __name__ == "__main__":
    record(int(sys.argv[1]), sys.argv[2], "--whole" in sys.argv)
