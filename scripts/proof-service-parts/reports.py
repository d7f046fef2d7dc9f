# SPDX-License-Identifier: Apache-2.0
"""Reports accepted a second, beside bare commits of the same rows in batches of the same size."""

import os
import pathlib
import sqlite3
import subprocess
import time

from stage import NAME, Limits, Service, expect, folder, machine, median, percentile, report
from load import read_wrk
from postgresql import PostgreSQL

# The share of bare commits a second that is required at the most connections: there a batch is what it is under load.
LEAST_RATIO = 0.35
MOST_CONNECTIONS = 256
# The same of bare COPY on PostgreSQL, where the database takes the time. At the most connections it does not: COPY of larger
# batches takes hardly longer, and the processors are busy with requests, which bare COPY has none of.
LEAST_OF_COPY = 0.5
COPY_CONNECTIONS = 64
# The bodies that the store keeps of a group.
BODIES = 16
LIMITS = "reports: {sourceBurst: 1000000, sourcePerMinute: 1000000, totalBurst: 1000000, totalPerMinute: 1000000}"
SCRIPT = pathlib.Path(__file__).with_name("reports.lua")
# The columns of a report that the store gives values for.
COLUMNS = ("group_number", "received_at", "claimed_at", "host", "port", "platform", "leaf_pin", "signals", "sampled", "body",
           "attestation", "attestation_step")
GROUP = """INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, list_version, issuer, is_validated,
    is_listed, attestation) VALUES ('%s', 'pin', 'no-matching-pin', 'api0.example.com', '%s', '1.0', '%s', 1, '', 0, 1,
    'not asked') RETURNING number""" % ("0" * 64, NAME, NAME)


def accept(seconds, connections, server=None):
    """Rate, p99 in ms, and the number of reports in a commit.

    server: a PostgreSQL, in which a database is made for it; otherwise the service keeps its state in SQLite."""
    with folder() as path:
        database = f"accepted{time.monotonic_ns()}"
        service = Service(path, settings=LIMITS + (f"\ndatabase: {server.create(database)}" if server else ""))
        service.start()
        service.publish()
        body = path / "report.json"
        body.write_bytes(report("HOST"))
        done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(SCRIPT),
                               service.address.geturl()], capture_output=True, text=True,
                              env=dict(os.environ, TUMBLER_REPORT=str(body)))
        expect(done.returncode == 0, done.stderr)
        rate, p99, count, bad = read_wrk(done.stdout)
        expect(bad == 0, f"{bad} of {count} reports were not accepted")
        metrics = service.metrics()
        accepted = metrics['tumbler_reports_accepted_total{kind="pin"}']
        commits = metrics["tumbler_report_commits_total"]
        service.stop()
        if server:
            stored = int(server.sql("SELECT COUNT(*) FROM report", database))
        else:
            db = sqlite3.connect(service.data / "tumbler.sqlite")
            stored = db.execute("SELECT COUNT(*) FROM report").fetchone()[0]
            db.close()
        # At its end wrk cuts connections whose reports are on their way: they are stored, and not counted.
        expect(stored >= accepted >= count, f"{count} answers, {accepted:.0f} accepted, {stored} stored")
    return rate, p99, accepted / commits


def bare(seconds, batch):
    """The statements of the store for one group, in commits of `batch` rows; rows a second, and p99 of a commit in ms.

    The tables are those that the service makes; the statements are those of `StoredReports+Adding.swift`."""
    with folder() as path:
        service = Service(path)
        service.local("serve", "--migrate")
        db = sqlite3.connect(service.data / "tumbler.sqlite", isolation_level=None)
        db.execute("PRAGMA synchronous = FULL")
        body = report("h1.example.com")
        commits, rows, began = [], 0, time.monotonic()
        group = "0" * 64
        number = db.execute(GROUP).fetchall()[0][0]
        while time.monotonic() - began < seconds:
            start = time.monotonic()
            now = int(time.time())
            db.execute("BEGIN IMMEDIATE")
            kept = db.execute("""SELECT id, number, is_listed,
                (SELECT COALESCE(SUM(bodies), 0) FROM group_count WHERE group_number = report_group.number)
                FROM report_group WHERE id IN (?)""", (group,)).fetchall()[0][3]
            bodies = min(max(BODIES - kept, 0), batch)
            db.execute("""
                INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
                VALUES (?, 'i', ?, ?, ?, ?, ?)
                ON CONFLICT (group_number, instance) DO UPDATE SET count = group_count.count + excluded.count,
                    bodies = group_count.bodies + excluded.bodies,
                    bodies_at = CASE WHEN excluded.bodies_at > group_count.bodies_at THEN excluded.bodies_at
                        ELSE group_count.bodies_at END,
                    first_at = CASE WHEN excluded.first_at < group_count.first_at THEN excluded.first_at
                        ELSE group_count.first_at END,
                    last_at = CASE WHEN excluded.last_at > group_count.last_at THEN excluded.last_at
                        ELSE group_count.last_at END""",
                (number, batch, bodies, now, now, now))
            db.execute("""INSERT INTO group_hour (group_number, hour, count, instance) VALUES (?, ?, ?, 'i')
                ON CONFLICT (group_number, hour, instance) DO UPDATE SET count = group_hour.count + excluded.count""",
                (number, now // 3600, batch))
            db.execute("""INSERT INTO group_network (group_number, day, instance, networks, is_more)
                VALUES (?, ?, 'i', ?, 0) ON CONFLICT (group_number, day, instance) DO UPDATE SET
                networks = excluded.networks, is_more = excluded.is_more
                WHERE excluded.networks > group_network.networks""", (number, now // 86400, 1 + len(commits)))
            db.execute("""INSERT INTO report_hour (hour, host, kind, count, instance) VALUES (?, ?, 'pin', ?, 'i')
                ON CONFLICT (hour, host, kind, instance) DO UPDATE SET count = report_hour.count + excluded.count""",
                (now // 3600, "api0.example.com", batch))
            insert(db, [(number, now, now, f"h{rows + index}.example.com", 443, "IOS 17.1", None, "", 0,
                         body if index < bodies else None, "not asked", None) for index in range(batch)])
            db.execute("COMMIT")
            rows += batch
            commits.append(time.monotonic() - start)
        rate = rows / (time.monotonic() - began)
        db.close()
    return rate, percentile(commits, 0.99) * 1e3


def insert(db, rows):
    """Rows of reports, as many in a statement as the store has."""
    while rows:
        count = next(length for length in (64, 16, 4, 1) if length <= len(rows))
        values = ", ".join(["(" + ", ".join("?" * len(COLUMNS)) + ")"] * count)
        db.execute(f"INSERT INTO report ({', '.join(COLUMNS)}) VALUES {values}",
                   [value for row in rows[:count] for value in row])
        rows = rows[count:]


def bare_copy(server, seconds, batch):
    """`BEGIN; COPY report; COMMIT` of `batch` rows at a time, through one psql; rows a second, and ms of a commit.

    The table is the one that the service makes, with the same indexes. What the service counts besides is not in it."""
    database = f"bare{time.monotonic_ns()}"
    with folder() as path:
        Service(path, settings=f"database: {server.create(database)}").local("serve", "--migrate")
    now = int(time.time())
    server.sql(f"SELECT report_day_make({now // 86400}), report_day_make({now // 86400 + 1})", database)
    number = server.sql(GROUP, database).strip()
    bodies = ("\\\\x" + report("h1.example.com").hex(), "\\N")
    head = f"BEGIN;\nCOPY report ({', '.join(COLUMNS)}) FROM STDIN;\n"
    psql = server.psql(database)
    psql.stdin.write(b"\\echo ready\n")
    psql.stdin.flush()
    expect(psql.stdout.readline() == b"ready\n", "psql does not begin")
    rows, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        lines = [f"{number}\t{now}\t{now}\th{rows + index}.example.com\t443\tIOS 17.1\t\\N\t\t0\t"
                 f"{bodies[rows + index >= BODIES]}\tnot asked\t\\N\n" for index in range(batch)]
        psql.stdin.write((head + "".join(lines) + "\\.\nCOMMIT;\n").encode())
        rows += batch
    # What is in the pipe still is written before it ends.
    said = psql.communicate()[1]
    elapsed = time.monotonic() - began
    expect(psql.returncode == 0, f"psql ended with {psql.returncode}: {said.decode()}")
    stored = int(server.sql("SELECT COUNT(*) FROM report", database))
    expect(stored == rows, f"{rows} rows were copied, {stored} are there")
    return rows / elapsed, elapsed / (rows / batch) * 1e3


def table(seconds, rounds, accepted, committed):
    """A table of both in turns, and the share that the service has, by the number of connections."""
    lines, ratios = [], {}
    for connections in (16, COPY_CONNECTIONS, MOST_CONNECTIONS):
        seen = []
        for _ in range(rounds):
            rate, p99, batch = accepted(seconds, connections)
            bare_rate, bare_time = committed(seconds, max(1, round(batch)))
            seen.append((rate, p99, batch, bare_rate, bare_time, rate / bare_rate))
        rate, p99, batch, bare_rate, bare_time, ratio = (median([row[column] for row in seen]) for column in range(6))
        lines.append(f"| {connections} | {rate:,.0f} | {p99:.1f} | {batch:.1f} | {bare_rate:,.0f} | {bare_time:.2f} | "
                     f"{ratio:.2f} |")
        ratios[connections] = ratio
    return lines, ratios


def prove(seconds, rounds):
    lines = [f"One `wrk` thread posts reports of {len(report('h1.example.com')):,} bytes, each from a source of its own, "
             f"and waits for each 202; beside it the same rows are committed by Python's SQLite in batches of the same size, with "
             f"`synchronous=FULL`, in turns ({rounds} rounds of {seconds} s, medians); {machine()}.", "",
             "| connections | accepted /s | p99 (ms) | reports a commit | bare rows /s | p99 of a bare commit (ms) | ratio |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    measured, ratios = table(seconds, rounds, accept, bare)
    limits = Limits("The service, reports")
    limits.limit(f"at {MOST_CONNECTIONS} connections, bare commits : accepted", 1 / ratios[MOST_CONNECTIONS], 1 / LEAST_RATIO)
    return limits.page([*lines, *measured, "", f"Required at {MOST_CONNECTIONS} connections: at least {LEAST_RATIO} of bare commits."])


def prove_postgresql(seconds, rounds):
    lines = [f"One `wrk` thread posts reports of {len(report('h1.example.com')):,} bytes, each from a source of its own, "
             f"and waits for each 202; the service keeps them in PostgreSQL, reached by a socket. Beside it one psql sends "
             f"`BEGIN; COPY report; COMMIT` of the same rows in batches of the same size to the same server, in turns "
             f"({rounds} rounds of {seconds} s, medians); {machine()}.", "",
             "| connections | accepted /s | p99 (ms) | reports a commit | COPY rows /s | a bare commit, mean (ms) | ratio |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    with folder() as path:
        path.chmod(0o755)
        server = PostgreSQL(path / "pg")
        try:
            measured, ratios = table(
                seconds, rounds, lambda *size: accept(*size, server), lambda *size: bare_copy(server, *size))
        finally:
            server.stop()
    limits = Limits("The service, reports on PostgreSQL")
    limits.limit(f"at {COPY_CONNECTIONS} connections, bare COPY : accepted", 1 / ratios[COPY_CONNECTIONS], 1 / LEAST_OF_COPY)
    return limits.page([*lines, *measured, "", f"Required at {COPY_CONNECTIONS} connections: at least {LEAST_OF_COPY} of bare COPY. At "
                        f"{MOST_CONNECTIONS} requests take the processors' time, and not the database."])
