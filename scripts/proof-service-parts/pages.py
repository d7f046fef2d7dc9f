# SPDX-License-Identifier: Apache-2.0
"""What each page of the dashboard needs of memory when 101 lists of 2.6 MB were published."""

import base64
import hashlib
import sqlite3
import time

from stage import NAME, Service, expect, folder, machine

# The most resident memory that a page may need above what the service has with nothing to do: a number of bytes, and of what all
# envelopes have together one in so many bytes. So fewer and smaller lists are no excuse to load all of them.
MOST_BYTES, MOST_SHARE = 67_108_864, 4
# The hosts of a list of 2.6 MB.
LARGE = 7_900
PAGES = ["/", "/lists", "/lists?before=50", "/adoption", "/hosts", "/rotations", "/audit", "/failures", "/alarms",
         "/metrics", "/v1/status", "/readyz"]


def entry(number):
    pins = ", ".join('{pin: "sha256/%s"}' % base64.b64encode(hashlib.sha256(f"{kind} {number}".encode()).digest()).decode()
                     for kind in ("now", "next", "later"))
    return f'  - {{domain: "host-{number}.example.com", mode: enforce, pins: [{pins}]}}\n'


def publish_large(service, domains):
    """Starts a service with a list of so many hosts published."""
    source = service.path / "app" / "tumbler.yaml"
    text = source.read_text()
    end = text.index("denied:")
    source.write_text(text[:end] + "".join(entry(number) for number in range(domains)) + text[end:])
    service.run("release", "-C", str(service.path / "app"), "--yes", timeout=600)
    service.start()
    service.publish()


def fill(path, domains, lists):
    """A database in which the same list was published again and again, as the version before left it: with no
    differences computed."""
    service = Service(path)
    publish_large(service, domains)
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
    domains, lists = (800, 801) if is_short else (LARGE, 101)
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
    worst, most = max(needs, key=needs.get), min(MOST_BYTES, size * lists // MOST_SHARE)
    each = ", ".join(f"`{page}` {max(need, 0) / 1e6:.1f}" for page, need in needs.items())
    expect(needs[worst] <= most, f"{worst} needs more than {most / 1e6:.1f} MB above {idle / 1e6:.0f} MB: {each}")
    return [f"{lists} lists of {size:,} bytes, published before differences were kept; {loaded}. Resident memory with nothing "
            f"to do {idle / 1e6:.0f} MB; at most above that while a page was made, in MB, in this order: {each}. Allowed are "
            f"{most / 1e6:.1f}: holds; all envelopes have {size * lists / 1e6:.0f} MB."]
