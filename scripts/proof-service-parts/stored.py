# SPDX-License-Identifier: Apache-2.0
"""Many reports stored: the size of the database, and the time of each page.

The rows are laid directly into the tables that the service made, with plausible data: 5,000 groups of 50 hosts over 90
days, of which the largest has one report in seventeen, and a year's worth of clients that say what they hold."""

import hashlib
import sqlite3
import subprocess
import time

from postgresql import PostgreSQL
from stage import NAME, Service, expect, folder, machine, median, pin, report

GROUPS, HOSTS, DAYS, BODIES, DIGESTS = 5_000, 50, 90, 16, 463
LIST = "number, name, version, digest, envelope, published_at"
# Seconds that one statement may take that lays down ten million rows.
LONG = 3_600


def certificate(path):
    """A self-issued certificate as PEM, so that the page of a group has something to read."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", str(path / "key.pem"), "-out", str(path / "certificate.pem"), "-days", "30",
                    "-subj", "/O=Example Interception/CN=api0.example.com"], check=True, capture_output=True)
    return (path / "certificate.pem").read_text()


# The number of a report's group, of GROUPS, for its x between 0 and 1: the numbers come from a multiplication and are the
# same ones each time. The largest group has one report in seventeen.
SEEN = "INSERT INTO report (group_number, received_at, claimed_at, host, port, platform, leaf_pin, signals, sampled)"
SUMS = ("""INSERT INTO group_hour (group_number, hour, count)
    SELECT group_number, received_at / 3600, COUNT(*) FROM report GROUP BY 1, 2""",
        """INSERT INTO report_hour (hour, host, kind, count)
    SELECT hour, report_group.host, report_group.kind, SUM(group_hour.count)
    FROM group_hour JOIN report_group ON number = group_number GROUP BY 1, 2, 3""")


def group_counts(now):
    return f"""INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
        SELECT group_number, 'instance', SUM(count), {BODIES}, {now}, MIN(hour) * 3600, MAX(hour) * 3600 + 3599
        FROM group_hour GROUP BY 1"""


def fill(database, count, pem, now):
    """Lays `count` reports into the tables of SQLite."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("BEGIN")
    for table, columns, rows in group_tables(now):
        marks = ", ".join("?" * len(columns.split(",")))
        db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
    indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'report'").fetchall()
    for name, _ in indexes:
        db.execute(f"DROP INDEX {name}")
    # Reports are stored in the order of time.
    db.execute(f"""
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count}),
            u (i, x) AS (SELECT i, ((i * 2654435761) & 4294967295) / 4294967296.0 FROM n)
        {SEEN}
        SELECT 1 + CAST({GROUPS} * x * x * x AS INTEGER), {now - DAYS * 86400} + i * {DAYS * 86400} / {count},
            {now - DAYS * 86400} + i * {DAYS * 86400} / {count} - i % 7,
            'api' || CAST({GROUPS} * x * x * x AS INTEGER) % {HOSTS} || '.example.com', 443,
            CASE i % 3 WHEN 0 THEN 'IOS 17.1' WHEN 1 THEN 'IOS 18.0' ELSE 'ANDROID 15' END,
            '{pin("leaf")}', '', 0 FROM u""")
    for _, sql in indexes:
        db.execute(sql)
    for sums in SUMS:
        db.execute(sums)
    for number in range(GROUPS):
        reports = db.execute("SELECT number FROM report WHERE group_number = ? ORDER BY number LIMIT ?",
                             (number + 1, BODIES)).fetchall()
        db.executemany("UPDATE report SET body = ? WHERE number = ?",
                       ((body_of(number % HOSTS, pem), row[0]) for row in reports))
    db.execute(group_counts(now))
    envelope, newest = db.execute("SELECT envelope, digest FROM list ORDER BY number DESC LIMIT 1").fetchone()
    db.execute("UPDATE list SET number = 10000")
    db.executemany(f"INSERT INTO list ({LIST}) VALUES (?, ?, ?, ?, ?, ?)", list_rows(envelope, now))
    db.executemany("INSERT INTO inquiry (name, hour, source, digest, count) VALUES (?, ?, 'installation', ?, ?)",
                   ((NAME, now // 3600 - hour, digest, 1 + hour % 5)
                    for hour in range(DAYS * 24) for digest in digests()[:-1] + [newest]))
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()


def fill_postgresql(server, count, pem, now):
    """Lays the same reports into the tables of PostgreSQL."""
    for table, columns, rows in group_tables(now):
        server.copy(table, columns, rows)
    first = now - DAYS * 86400
    server.sql(f"SELECT report_day_make(day) FROM generate_series({first // 86400}, {now // 86400 + 1}) AS day")
    # An index of the whole is one of each day's table.
    indexes = server.sql("SELECT indexname, replace(indexdef, ' ON ONLY ', ' ON ') FROM pg_indexes WHERE tablename = 'report'")
    names, statements = zip(*(line.split("\t") for line in indexes.splitlines()))
    server.sql(f"DROP INDEX {', '.join(names)}")
    server.sql(f"""{SEEN}
        SELECT 1 + number, at, at - i % 7, 'api' || number % {HOSTS} || '.example.com', 443,
            CASE i % 3 WHEN 0 THEN 'IOS 17.1' WHEN 1 THEN 'IOS 18.0' ELSE 'ANDROID 15' END, '{pin("leaf")}', '', 0
        FROM (SELECT i, {first} + i * {DAYS * 86400} / {count} AS at, CAST(floor({GROUPS} * x * x * x) AS BIGINT) AS number
            FROM (SELECT i, ((i * 2654435761) & 4294967295) / CAST(4294967296 AS DOUBLE PRECISION) AS x
                FROM generate_series(CAST(0 AS BIGINT), {count} - 1) AS i) AS u) AS v""", timeout=LONG)
    for statement in [*statements, "ANALYZE", *SUMS, group_counts(now)]:
        server.sql(statement, timeout=LONG)
    server.sql("CREATE TABLE laid_body (host TEXT, body BYTEA)")
    server.copy("laid_body", "host, body", ((f"api{host}.example.com", body_of(host, pem)) for host in range(HOSTS)))
    server.sql(f"""UPDATE report SET body = laid_body.body
        FROM report_group CROSS JOIN LATERAL (SELECT number, received_at FROM report
                WHERE group_number = report_group.number ORDER BY number LIMIT {BODIES}) AS oldest
            JOIN laid_body ON laid_body.host = report_group.host
        WHERE report.number = oldest.number AND report.received_at = oldest.received_at""", timeout=LONG)
    server.sql("DROP TABLE laid_body")
    envelope, newest = server.sql("SELECT encode(envelope, 'hex'), digest FROM list ORDER BY number DESC LIMIT 1").split()
    server.sql("UPDATE list SET number = 10000")
    server.copy("list", LIST, list_rows(bytes.fromhex(envelope), now))
    listed = ", ".join(f"('{digest}')" for digest in digests()[:-1] + [newest])
    server.sql(f"""INSERT INTO inquiry (name, hour, source, digest, count)
        SELECT '{NAME}', {now // 3600} - hour, 'installation', digest, 1 + hour % 5
        FROM generate_series(0, {DAYS * 24 - 1}) AS hour, (VALUES {listed}) AS digests (digest)""", timeout=LONG)
    # As the server does by itself, sooner or later.
    server.sql("VACUUM ANALYZE", timeout=LONG)


def group_tables(now):
    """The rows of groups and of what stands beside them, by table."""
    reasons = ["no-matching-pin", "chain-invalid", "denied-key", "unlisted-reported"]
    groups = []
    for number in range(GROUPS):
        reason = reasons[number // HOSTS % 4]
        groups.append((number + 1, hashlib.sha256(b"group %d" % number).hexdigest(),
                       "tls" if reason == "chain-invalid" else "pin", reason, f"api{number % HOSTS}.example.com", NAME,
                       f"{number // 200 % 20}.0", NAME, 1, f"Issuer {number % 700}", pin(f"issuer {number % 700}"),
                       number % 2, 1, 1))
    leaves = ((number + 1, pin(f"leaf {number} {leaf}"), now - 86400, now + 86400 * 90)
              for number in range(GROUPS) for leaf in range(1 if number % 3 else 8))
    networks = ((number + 1, now // 86400 - day, "instance", 1 + (number + day) % 50, 0)
                for number in range(GROUPS) for day in range(DAYS))
    return [("report_group", "number, id, kind, reason, host, app, app_version, list_name, list_version, issuer, issuer_pin, "
             "is_public, is_validated, is_listed", groups),
            ("group_leaf", "group_number, pin, not_before, not_after", leaves),
            ("group_network", "group_number, day, instance, networks, is_more", networks)]


def body_of(host, pem):
    body = report(f"api{host}.example.com", noted=f"api{host}.example.com").decode()
    return body.replace('"served-certificate-chain": []',
                        '"served-certificate-chain": ["' + pem.replace("\n", "\\n") + '"]').encode()


def digests():
    return [hashlib.sha256(b"list %d" % number).hexdigest() for number in range(DIGESTS)]


def list_rows(envelope, now):
    """The lists that most of the digests in a million rows of inquiries belong to."""
    return [(number + 1, NAME, 1, digest, envelope, now - DAYS * 86400 + number)
            for number, digest in enumerate(digests()[:DIGESTS - 33])]


def pages(service, server, group, times):
    """Times of each page; of a core, those of the database's own processes are among them."""
    def cpu():
        return service.cpu() + (server.cpu() if server else 0)

    names = ["/", "/adoption", "/hosts", "/lists", "/audit", "/failures", "/failures?span=all&order=networks",
             f"/failures?span=all&host=api0.example.com", f"/failures/{group}", "/alarms", "/v1/status", "/metrics"]
    for name in names:
        core = cpu()
        answers = [service.look(name, timeout=120) for _ in range(times)]
        core = (cpu() - core) / times
        expect(all(answer.status == 200 for answer in answers), f"{name} was answered with {answers[0].status}")
        seconds = [answer.seconds for answer in answers]
        yield (name.replace(group, "ID"), seconds[0], median(seconds), max(seconds), core, len(answers[0].body))


def prove(count, times, most_seconds):
    """The report of it; each page is asked for a few times.

    most_seconds is what a page may take of a core; None for a debug build, whose times say nothing."""
    with folder() as path:
        return prove_on(None, path, count, times, most_seconds)


def prove_postgresql(count, times, most_seconds):
    """The same on a PostgreSQL that is started for it."""
    with folder() as path:
        path.chmod(0o755)
        server = PostgreSQL(path / "pg")
        try:
            return prove_on(server, path, count, times, most_seconds)
        finally:
            server.stop()


def prove_on(server, path, count, times, most_seconds):
    lines = [f"{count:,} reports in {GROUPS:,} groups of {HOSTS} hosts over {DAYS} days, {DIGESTS * DAYS * 24:,} rows "
             f"of what clients hold; {machine()}.", ""]
    settings = "retention: {days: 3650, megabytes: 1000000}" + (f"\ndatabase: {server.address}" if server else "")
    service = Service(path, settings=settings, hosts=HOSTS)
    service.start()
    service.publish()
    service.stop()
    now, began = int(time.time()), time.monotonic()
    database = service.data / "tumbler.sqlite"
    if server:
        fill_postgresql(server, count, certificate(path), now)
        size = int(server.sql("SELECT pg_database_size('tumbler')"))
        stored = int(server.sql("SELECT COUNT(*) FROM report"))
        expect(stored == count, f"{count} reports were laid down, {stored} are there")
    else:
        fill(database, count, certificate(path), now)
        size = database.stat().st_size
    lines.append(f"Database: {size / 1e6:,.0f} MB, {size / count:,.0f} bytes a report; laid down in "
                 f"{time.monotonic() - began:.0f} s. Of it, in MB: "
                 f"{postgresql_shares(server) if server else shares(database)}.")
    lines.append(f"The service listened {service.start() * 1e3:.0f} ms after it was started.")
    lines += ["", "| page | first (ms) | median (ms) | slowest (ms) | of a core (ms) | kB |",
              "|---|---:|---:|---:|---:|---:|"]
    slow = []
    for name, first, middle, slowest, core, length in pages(
            service, server, hashlib.sha256(b"group 0").hexdigest(), times):
        lines.append(f"| `{name}` | {first * 1e3:.0f} | {middle * 1e3:.0f} | {slowest * 1e3:.0f} | "
                     f"{core * 1e3:.0f} | {length / 1e3:.0f} |")
        if most_seconds is not None and core > most_seconds:
            slow.append(name)
    lines += ["", f"Resident memory afterwards: {service.memory() / 1e6:.0f} MB."]
    service.kill()
    expect(not slow, "\n".join(lines) + f"\nmore than {most_seconds} s of a core: {', '.join(slow)}")
    return lines


def shares(database):
    db = sqlite3.connect(database)
    try:
        rows = db.execute("""SELECT name, SUM(pgsize) FROM dbstat GROUP BY 1 ORDER BY 2 DESC LIMIT 8""").fetchall()
    except sqlite3.OperationalError:
        return "not known (no dbstat)"
    finally:
        db.close()
    return ", ".join(f"{name} {bytes / 1e6:.0f}" for name, bytes in rows)


def postgresql_shares(server):
    """Tables with their indexes; the days of reports are one."""
    rows = server.sql("""SELECT CASE WHEN relname LIKE 'report\\_day\\_%' THEN 'report' ELSE relname END,
            SUM(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC LIMIT 8""")
    return ", ".join(f"{name} {int(size) / 1e6:.0f}" for name, size in (row.split("\t") for row in rows.splitlines()))
