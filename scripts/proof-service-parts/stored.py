# SPDX-License-Identifier: Apache-2.0
"""Many reports stored: the size of the database, and the time of each page.

The rows are laid directly into the tables that the service made, with plausible data: 5,000 groups of 50 hosts over 90
days, of which the largest has one report in seventeen, and a year's worth of clients that say what they hold."""

import hashlib
import sqlite3
import subprocess
import time

from stage import NAME, Service, expect, folder, machine, median, pin, report

GROUPS, HOSTS, DAYS, BODIES, DIGESTS = 5_000, 50, 90, 16, 463


def certificate(path):
    """A self-issued certificate as PEM, so that the page of a group has something to read."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", str(path / "key.pem"), "-out", str(path / "certificate.pem"), "-days", "30",
                    "-subj", "/O=Example Interception/CN=api0.example.com"], check=True, capture_output=True)
    return (path / "certificate.pem").read_text()


def fill(database, count, pem, now):
    """Lays `count` reports into the tables."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("BEGIN")
    fill_groups(db, now)
    indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'report'").fetchall()
    for name, _ in indexes:
        db.execute(f"DROP INDEX {name}")
    # The numbers come from a multiplication: the same ones each time. Reports are stored in the order of time.
    db.execute(f"""
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count}),
            u (i, x) AS (SELECT i, ((i * 2654435761) & 4294967295) / 4294967296.0 FROM n)
        INSERT INTO report (group_number, received_at, claimed_at, host, port, platform, leaf_pin, signals, sampled)
        SELECT 1 + CAST({GROUPS} * x * x * x AS INTEGER), {now - DAYS * 86400} + i * {DAYS * 86400} / {count},
            {now - DAYS * 86400} + i * {DAYS * 86400} / {count} - i % 7,
            'api' || CAST({GROUPS} * x * x * x AS INTEGER) % {HOSTS} || '.example.com', 443,
            CASE i % 3 WHEN 0 THEN 'IOS 17.1' WHEN 1 THEN 'IOS 18.0' ELSE 'ANDROID 15' END,
            '{pin("leaf")}', '', 0 FROM u""")
    for _, sql in indexes:
        db.execute(sql)
    db.execute("""INSERT INTO group_hour (group_number, hour, count) SELECT group_number, received_at / 3600, COUNT(*) FROM report GROUP BY 1, 2""")
    db.execute("""INSERT INTO report_hour (hour, host, kind, count) SELECT hour, report_group.host, report_group.kind, SUM(group_hour.count)
        FROM group_hour JOIN report_group ON number = group_number GROUP BY 1, 2, 3""")
    fill_bodies(db, pem)
    db.execute(f"""INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
        SELECT group_number, 'instance', SUM(count), {BODIES}, {now}, MIN(hour) * 3600, MAX(hour) * 3600 + 3599
        FROM group_hour GROUP BY 1""")
    fill_inquiries(db, now)
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()


def fill_groups(db, now):
    reasons = ["no-matching-pin", "chain-invalid", "denied-key", "unlisted-reported"]
    rows = []
    for number in range(GROUPS):
        reason = reasons[number // HOSTS % 4]
        rows.append((number + 1, hashlib.sha256(b"group %d" % number).hexdigest(),
                     "tls" if reason == "chain-invalid" else "pin", reason, f"api{number % HOSTS}.example.com", NAME,
                     f"{number // 200 % 20}.0", NAME, 1, f"Issuer {number % 700}", pin(f"issuer {number % 700}"),
                     number % 2, 1, 1))
    db.executemany("""INSERT INTO report_group (number, id, kind, reason, host, app, app_version, list_name, list_version,
        issuer, issuer_pin, is_public, is_validated, is_listed) VALUES (""" + ", ".join("?" * 14) + ")", rows)
    db.executemany("INSERT INTO group_leaf (group_number, pin, not_before, not_after) VALUES (?, ?, ?, ?)",
                   ((number + 1, pin(f"leaf {number} {leaf}"), now - 86400, now + 86400 * 90)
                    for number in range(GROUPS) for leaf in range(1 if number % 3 else 8)))
    db.executemany("INSERT INTO group_network VALUES (?, ?, ?, ?, ?)",
                   ((number + 1, now // 86400 - day, "instance", 1 + (number + day) % 50, 0)
                    for number in range(GROUPS) for day in range(DAYS)))


def fill_bodies(db, pem):
    for number in range(GROUPS):
        body = report(f"api{number % HOSTS}.example.com", noted=f"api{number % HOSTS}.example.com").decode()
        body = body.replace('"served-certificate-chain": []',
                            '"served-certificate-chain": ["' + pem.replace("\n", "\\n") + '"]').encode()
        reports = db.execute("SELECT number FROM report WHERE group_number = ? ORDER BY number LIMIT ?",
                             (number + 1, BODIES)).fetchall()
        db.executemany("UPDATE report SET body = ? WHERE number = ?", ((body, row[0]) for row in reports))


def fill_inquiries(db, now):
    """A million rows, and the lists that most of their digests belong to."""
    envelope = db.execute("SELECT envelope FROM list ORDER BY number DESC LIMIT 1").fetchone()[0]
    db.execute("UPDATE list SET number = 10000")
    digests = [hashlib.sha256(b"list %d" % number).hexdigest() for number in range(DIGESTS)]
    newest = db.execute("SELECT digest FROM list").fetchone()[0]
    db.executemany("INSERT INTO list (number, name, version, digest, envelope, published_at) VALUES (?, ?, 1, ?, ?, ?)",
                   ((number + 1, NAME, digest, envelope, now - DAYS * 86400 + number)
                    for number, digest in enumerate(digests[:DIGESTS - 33])))
    db.executemany("""INSERT INTO inquiry (name, hour, source, digest, count)
        VALUES (?, ?, 'installation', ?, ?)""",
                   ((NAME, now // 3600 - hour, digest, 1 + hour % 5)
                    for hour in range(DAYS * 24) for digest in digests[:-1] + [newest]))


def pages(service, group, times):
    names = ["/", "/adoption", "/hosts", "/lists", "/audit", "/failures", "/failures?span=all&order=networks",
             f"/failures?span=all&host=api0.example.com", f"/failures/{group}", "/alarms", "/v1/status", "/metrics"]
    for name in names:
        core = service.cpu()
        answers = [service.look(name, timeout=120) for _ in range(times)]
        core = (service.cpu() - core) / times
        expect(all(answer.status == 200 for answer in answers), f"{name} was answered with {answers[0].status}")
        seconds = [answer.seconds for answer in answers]
        yield (name.replace(group, "ID"), seconds[0], median(seconds), max(seconds), core, len(answers[0].body))


def prove(count, times, most_seconds):
    """The report of it; each page is asked for a few times.

    most_seconds is what a page may take of a core; None for a debug build, whose times say nothing."""
    lines = [f"{count:,} reports in {GROUPS:,} groups of {HOSTS} hosts over {DAYS} days, {DIGESTS * DAYS * 24:,} rows "
             f"of what clients hold; {machine()}.", ""]
    with folder() as path:
        service = Service(path, settings="retention: {days: 3650, megabytes: 1000000}", hosts=HOSTS)
        service.start()
        service.publish()
        service.stop()
        now = int(time.time())
        database = service.data / "tumbler.sqlite"
        began = time.monotonic()
        fill(database, count, certificate(path), now)
        size = database.stat().st_size
        lines.append(f"Database: {size / 1e6:,.0f} MB, {size / count:,.0f} bytes a report; laid down in "
                     f"{time.monotonic() - began:.0f} s. Of it, in MB: {shares(database, size)}.")
        lines.append(f"The service listened {service.start() * 1e3:.0f} ms after it was started.")
        lines += ["", "| page | first (ms) | median (ms) | slowest (ms) | of a core (ms) | kB |",
                  "|---|---:|---:|---:|---:|---:|"]
        slow = []
        for name, first, middle, slowest, core, length in pages(
                service, hashlib.sha256(b"group 0").hexdigest(), times):
            lines.append(f"| `{name}` | {first * 1e3:.0f} | {middle * 1e3:.0f} | {slowest * 1e3:.0f} | "
                         f"{core * 1e3:.0f} | {length / 1e3:.0f} |")
            if most_seconds is not None and core > most_seconds:
                slow.append(name)
        lines += ["", f"Resident memory afterwards: {service.memory() / 1e6:.0f} MB."]
        service.kill()
        expect(not slow, "\n".join(lines) + f"\nmore than {most_seconds} s of a core: {', '.join(slow)}")
    return lines


def shares(database, size):
    db = sqlite3.connect(database)
    try:
        rows = db.execute("""SELECT name, SUM(pgsize) FROM dbstat GROUP BY 1 ORDER BY 2 DESC LIMIT 8""").fetchall()
    except sqlite3.OperationalError:
        return "not known (no dbstat)"
    finally:
        db.close()
    return ", ".join(f"{name} {bytes / 1e6:.0f}" for name, bytes in rows)
