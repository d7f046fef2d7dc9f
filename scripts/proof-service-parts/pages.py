# SPDX-License-Identifier: Apache-2.0
"""What each page of the dashboard needs of memory when 101 lists of 2.6 MB were published."""

import base64
import hashlib
import sqlite3
import time

from stage import NAME, Service, expect, folder, machine

# The most resident memory that a page may need above what the service has with nothing to do, in bytes.
MOST_BYTES = 67_108_864
PAGES = ["/", "/lists", "/lists?before=50", "/adoption", "/hosts", "/rotations", "/audit", "/failures", "/alarms",
         "/metrics", "/v1/status", "/readyz"]


def entry(number):
    pins = ", ".join('{pin: "sha256/%s"}' % base64.b64encode(hashlib.sha256(f"{kind} {number}".encode()).digest()).decode()
                     for kind in ("now", "next"))
    return f'  - {{domain: "host-{number}.example.com", mode: enforce, pins: [{pins}]}}\n'


def fill(path, domains, lists):
    """A database in which the same list was published again and again, as the version before left it: with no
    differences computed."""
    service = Service(path)
    source = path / "app" / "tumbler.yaml"
    text = source.read_text()
    end = text.index("denied:")
    source.write_text(text[:end] + "".join(entry(number) for number in range(domains)) + text[end:])
    service.run("release", "-C", str(path / "app"), "--yes", timeout=600)
    service.start()
    service.publish()
    service.stop()
    database = sqlite3.connect(service.data / "tumbler.sqlite")
    for number in range(2, lists + 1):
        for table, columns in (("list", "digest, envelope"), ("publication", "digest")):
            database.execute(
                f"INSERT INTO {table} (number, name, version, published_at, {columns}) SELECT ?, name, ?, published_at, "
                f"{columns} FROM {table} WHERE number = 1", [number, number])
    # The one that is served is the last one, and its version is the one that it says.
    version = database.execute("SELECT version FROM list WHERE number = 1").fetchone()[0]
    for table in ("list", "publication"):
        database.execute(f"UPDATE {table} SET version = ? WHERE number IN (1, ?)", [version, lists])
    database.execute("UPDATE publication SET issued_at = NULL, expires_at = NULL, changes = NULL")
    database.commit()
    database.close()
    return service


def ask_clients(service, count):
    """Requests that name the list, so that adoption is measured."""
    answer = service.ask("GET", f"/v1/lists/{NAME}/pins.json")
    connection = service.connection()
    for _ in range(count):
        connection.request("GET", f"/v1/lists/{NAME}/pins.json", headers={"If-None-Match": answer.headers["ETag"]})
        connection.getresponse().read()
    connection.close()
    return len(answer.body)


def peak(service):
    """The most resident memory since it was asked last, in bytes."""
    process = f"/proc/{service.process.pid}"
    with open(f"{process}/status") as status:
        value = next(line for line in status if line.startswith("VmHWM:"))
    with open(f"{process}/clear_refs", "w") as clear:
        clear.write("5")
    return int(value.split()[1]) * 1024


def prove(is_short):
    domains, lists = (800, 21) if is_short else (9_000, 101)
    with folder() as path:
        loaded = machine()
        service = fill(path, domains, lists)
        service.start()
        token = service.local("token", "create", "--scope", "read").strip()
        size = ask_clients(service, 400)
        time.sleep(12)
        idle = service.memory()
        peak(service)
        needs = {}
        for page in PAGES:
            answer = service.ask("GET", page, headers={"Authorization": "Bearer " + token}, timeout=120)
            expect(answer.status == 200, f"{page} was answered with {answer.status}")
            needs[page] = peak(service) - idle
        service.kill()
    worst = max(needs, key=needs.get)
    expect(needs[worst] <= MOST_BYTES, f"{worst} needs {needs[worst] / 1e6:.0f} MB above {idle / 1e6:.0f} MB")
    each = ", ".join(f"`{page}` {max(need, 0) / 1e6:.0f}" for page, need in needs.items())
    return [f"{lists} lists of {size:,} bytes, published before differences were kept; {loaded}. Resident memory with nothing "
            f"to do {idle / 1e6:.0f} MB; at most above that while a page was made, in MB, in this order: {each}. Allowed are "
            f"{MOST_BYTES / 1e6:.0f}: holds."]
