# SPDX-License-Identifier: Apache-2.0
"""Reports accepted a second, beside bare commits of the same rows in batches of the same size."""

import os
import pathlib
import sqlite3
import subprocess
import time

from stage import NAME, Service, expect, folder, machine, median, percentile, report
from load import read_wrk

LIMITS = "reports: {sourceBurst: 1000000, sourcePerMinute: 1000000, totalBurst: 1000000, totalPerMinute: 1000000}"
SCRIPT = pathlib.Path(__file__).with_name("reports.lua")


def accept(seconds, connections):
    """Rate, p99 in ms, and the number of reports in a commit."""
    with folder() as path:
        service = Service(path, settings=LIMITS)
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
        number = db.execute("""
            INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, list_version, issuer,
                is_validated, is_listed) VALUES (?, 'pin', 'no-matching-pin', 'api0.example.com', ?, '1.0', ?, 1, '', 0, 1)
            RETURNING number""", (group, NAME, NAME)).fetchall()[0][0]
        while time.monotonic() - began < seconds:
            start = time.monotonic()
            now = int(time.time())
            db.execute("BEGIN IMMEDIATE")
            kept = db.execute("""SELECT id, number, is_listed,
                (SELECT COALESCE(SUM(bodies), 0) FROM group_count WHERE group_number = report_group.number)
                FROM report_group WHERE id IN (?)""", (group,)).fetchall()[0][3]
            bodies = min(max(16 - kept, 0), batch)
            db.execute("""
                INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
                VALUES (?, 'i', ?, ?, ?, ?, ?)
                ON CONFLICT (group_number, instance) DO UPDATE SET count = group_count.count + excluded.count,
                    bodies = group_count.bodies + excluded.bodies, last_at = excluded.last_at""",
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
                         body if index < bodies else None) for index in range(batch)])
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
        values = ", ".join(["(" + ", ".join("?" * 10) + ")"] * count)
        db.execute(f"""INSERT INTO report (group_number, received_at, claimed_at, host, port, platform, leaf_pin, signals,
            sampled, body) VALUES {values}""", [value for row in rows[:count] for value in row])
        rows = rows[count:]


def prove(seconds, rounds):
    lines = [f"One `wrk` thread posts reports of {len(report('h1.example.com')):,} bytes, each from a source of its own, "
             f"and waits for each 202; beside it the same rows are committed by Python's SQLite in batches of the same size, with "
             f"`synchronous=FULL`, in turns ({rounds} rounds of {seconds} s, medians); {machine()}.", "",
             "| connections | accepted /s | p99 (ms) | reports a commit | bare rows /s | p99 of a bare commit (ms) | ratio |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    for connections in (16, 64, 256):
        seen = []
        for _ in range(rounds):
            rate, p99, batch = accept(seconds, connections)
            bare_rate, bare_p99 = bare(seconds, max(1, round(batch)))
            seen.append((rate, p99, batch, bare_rate, bare_p99, rate / bare_rate))
        rate, p99, batch, bare_rate, bare_p99, ratio = (median([row[column] for row in seen]) for column in range(6))
        lines.append(f"| {connections} | {rate:,.0f} | {p99:.1f} | {batch:.1f} | {bare_rate:,.0f} | {bare_p99:.1f} | "
                     f"{ratio:.2f} |")
    return lines
