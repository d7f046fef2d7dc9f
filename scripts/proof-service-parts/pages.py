# SPDX-License-Identifier: Apache-2.0
"""What each page of the dashboard needs of memory when 101 lists of 2.6 MB were published."""

import base64
import hashlib
import sqlite3
import time

from stage import NAME, Service, expect, folder, machine, post

# The most resident memory that a page may need above what the service has with nothing to do: a number of bytes, and of what all
# envelopes have together one in so many bytes. So fewer and smaller lists are no excuse to load all of them.
MOST_BYTES, MOST_SHARE = 67_108_864, 4
# The hosts of a list of 2.6 MB.
LARGE = 7_900
PAGES = ["/", "/lists", "/lists?before=50", "/adoption", "/hosts", "/rotations", "/certificates", "/audit", "/failures", "/alarms",
         "/metrics", "/v1/status", "/v1/reports", f"/v1/lists/{NAME}/adoption", "/readyz"]
# A page that reads the lists which clients hold reads so many different ones (`DeployableKeys.maximumLists`).
DIFFERENT = 32


def entry(number):
    pins = ", ".join('{pin: "sha256/%s"}' % base64.b64encode(hashlib.sha256(f"{kind} {number}".encode()).digest()).decode()
                     for kind in ("now", "next", "later"))
    return f'  - {{domain: "host-{number}.example.com", mode: enforce, pins: [{pins}]}}\n'


def publish_large(service, domains, different=1):
    """Starts a service with so many different lists published, of so many hosts each; the tag of each, the newest last."""
    source, app = service.path / "app" / "tumbler.yaml", service.path / "app"
    text, tags = source.read_text(), []
    end = text.index("denied:")
    for number in range(different):
        # Each pins another host in place of the one that only the list before it has.
        hosts = [*range(domains - 1), domains + number]
        source.write_text(text[:end] + "".join(map(entry, hosts)) + text[end:])
        service.run("release", "-C", str(app), "--yes", timeout=600)
        if not number:
            service.start()
        service.publish()
        tags.append(service.ask("GET", f"/v1/lists/{NAME}/pins.json").headers["ETag"])
    expect(len(set(tags)) == different, "lists that should differ have the same tag")
    return tags


def fill(path, domains, lists, different):
    """A database with different lists, of which the first was published again and again before the others, as the version before
    left it: with no differences computed. With the tags of the different ones."""
    service = Service(path)
    tags = publish_large(service, domains, different)
    service.stop()
    database = sqlite3.connect(service.data / "tumbler.sqlite")
    copies = lists - different
    for table, columns in (("list", "digest, envelope"), ("publication", "digest")):
        # In two steps, so that no number is there twice meanwhile.
        database.execute(f"UPDATE {table} SET number = -number - ?", [copies])
        database.execute(f"UPDATE {table} SET number = -number")
        for number in range(1, copies + 1):
            database.execute(
                f"INSERT INTO {table} (number, name, version, published_at, {columns}) SELECT ?, name, version, published_at, "
                f"{columns} FROM {table} WHERE number = ?", [number, copies + 1])
    database.execute("UPDATE publication SET issued_at = NULL, expires_at = NULL, changes = NULL")
    database.commit()
    found = database.execute("SELECT COUNT(*), COUNT(DISTINCT digest) FROM list").fetchone()
    expect(found == (lists, different), f"the database has {found[0]} lists, {found[1]} of them different")
    database.close()
    return service, tags


def report_failures(service):
    """Some groups of failures; the path of the newest one's page."""
    connection = service.connection()
    for number in range(50):
        expect(post(connection, number, "api0.example.com", version=f"1.{number}") == 202, "a report was not accepted")
    connection.close()
    database = sqlite3.connect(service.data / "tumbler.sqlite")
    group = database.execute("SELECT id FROM report_group ORDER BY number DESC LIMIT 1").fetchone()[0]
    database.close()
    return f"/failures/{group}"


def ask_clients(service, tags, count):
    """Requests that name the lists by turns, so that adoption is measured; the size of the newest list."""
    answer = service.ask("GET", f"/v1/lists/{NAME}/pins.json")
    connection = service.connection()
    for number in range(count):
        connection.request("GET", f"/v1/lists/{NAME}/pins.json", headers={"If-None-Match": tags[-1 - number % len(tags)]})
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
        service, tags = fill(path, domains, lists, DIFFERENT)
        service.start()
        size = ask_clients(service, tags, 12 * DIFFERENT)
        group = report_failures(service)
        time.sleep(12)
        idle = service.memory()
        peak(service)
        needs = {}
        for page in [*PAGES, group]:
            answer = service.look(page, timeout=120)
            expect(answer.status == 200, f"{page} was answered with {answer.status}")
            needs[page] = peak(service) - idle
        service.kill()
    worst, most = max(needs, key=needs.get), min(MOST_BYTES, size * lists // MOST_SHARE)
    each = ", ".join(f"`{'/failures/ID' if page == group else page}` {max(need, 0) / 1e6:.1f}" for page, need in needs.items())
    expect(needs[worst] <= most, f"{worst} needs more than {most / 1e6:.1f} MB above {idle / 1e6:.0f} MB: {each}")
    return [f"{lists} lists of {size:,} bytes, {DIFFERENT} of them different and named by clients, published before differences were "
            f"kept; {loaded}. Resident memory with nothing to do {idle / 1e6:.0f} MB; at most above that while a page was made, in "
            f"MB, in this order: {each}. Allowed are {most / 1e6:.1f}: holds; all envelopes have {size * lists / 1e6:.0f} MB."]
