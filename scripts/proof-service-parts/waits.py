# SPDX-License-Identifier: Apache-2.0
"""Whether an instance waits for another one to take reports, as PostgreSQL tells: of known groups, and while strangers
invent groups."""

import threading
import time

from stage import expect, post

# The groups that there is room for of hosts that no list has (`GroupQuota`).
ROOM = 5_000
# Senders at each instance: so many reports can be in one batch.
SENDERS = 8
# Not counted is the moment in which a file grows, which the server itself guards.
LOOK = """SELECT COUNT(*) FILTER (WHERE state <> 'idle'), COALESCE(string_agg(wait_event || ': ' ||
        left(regexp_replace(query, '\\s+', ' ', 'g'), 100), chr(31))
        FILTER (WHERE wait_event_type = 'Lock' AND wait_event <> 'extend'), '')
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""
# A change that is no batch of reports begins with a lock of its own: leases, alarms, retention.
OTHERS = "advisory: BEGIN"
# So many groups that none has room, and none that would leave for another: of one report, or small and last reported a day ago.
FILL = [f"""WITH made AS (INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, issuer, is_validated,
            is_listed)
        SELECT 'made ' || n, 'pin', 'x', 'm' || n || '.invented.test', '', '', '', '', 0, 0
        FROM generate_series(1, {ROOM}) AS n RETURNING number)
    INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
    SELECT number, 'made', 2, 0, 0, 0, EXTRACT(EPOCH FROM now())::bigint FROM made""", "UPDATE group_count SET count = count + 1 WHERE count = 1"]
# Half of them have one report: these leave for what comes while no other instance makes groups.
HALF = "UPDATE group_count SET count = 1 WHERE instance = 'made' AND group_number % 2 = 0"


class Watch(threading.Thread):
    """Looks again and again at what the sessions of the database wait for, as long as the block lasts."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.session, self.ended = database.psql("tumbler"), threading.Event()
        self.looks = self.busy = 0
        self.reports, self.others = {}, 0

    def run(self):
        while not self.ended.is_set():
            self.session.stdin.write(f"{LOOK};\n".encode())
            self.session.stdin.flush()
            busy, _, waits = self.session.stdout.readline().decode().rstrip("\n").partition("\t")
            self.looks += 1
            # Two sessions at least are in the middle of something. Each instance has one that adds reports and one that writes:
            # many such looks are of several instances.
            self.busy += int(busy or 0) > 1
            for wait in filter(None, waits.split("\x1f")):
                if wait.startswith(OTHERS):
                    self.others += 1
                else:
                    self.reports[wait] = self.reports.get(wait, 0) + 1
            time.sleep(0.002)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join(timeout=30)
        said = self.session.communicate()[1]
        expect(self.session.returncode == 0, f"the look at pg_stat_activity ended: {said.decode()}")


def prove(database, every, load, seconds, names):
    """Each instance gets reports of one listed group; then invented ones among them while there is room for groups; then
    when there is none. No instance may be seen to wait for another.

    load: makes senders, given a mark, how many for each instance, and whether half of them invent hosts. Returns the lines,
    and the hosts of listed reports that were answered with 202."""
    lines, wanted = [], []

    def phase(what, mark, seconds, invents=False):
        with load(mark, SENDERS, invents) as senders, Watch(database) as watch:
            time.sleep(seconds)
        wanted.extend(senders.listed)
        taken, listed = senders.answers.get(202, 0), len(senders.listed)
        expect(set(senders.answers) == {202}, f"{what}: reports were answered {senders.answers}")
        expect(watch.busy * 10 > watch.looks,
               f"{what}: in {watch.looks} looks {watch.busy} had two sessions at work: nothing was proved")
        expect(not watch.reports, f"{what}: an instance waited for another to take reports: {watch.reports}")
        lines.append(f"{what}: {listed:,} listed and {taken - listed:,} invented reports taken in {seconds} s; in {watch.looks:,} looks "
                     f"at `pg_stat_activity`, {watch.busy:,} of them with two sessions or more at work, no wait for a lock to "
                     f"take reports, and {watch.others} to do anything else.")

    expect(post(every[0].connection(), 1, f"{names}.first.example.com") == 202, "the first report was refused")
    phase(f"Reports of a known group at all {names}", "known", seconds)
    phase("Hosts that strangers invent among them, while there is room for their groups", "room", min(seconds, 3), True)
    for statement in FILL:
        database.sql(statement)
    # The overflow is made once. The first connection has been idle for too long.
    expect(post(every[0].connection(), 2, "over.invented.test", noted="over.invented.test") == 202, "an invented report was refused")
    expect(database.sql("SELECT 1 FROM report_group WHERE reason = 'overflow'").strip() == "1", "there is no overflow")
    database.sql(HALF)
    phase("Such hosts among them, and no room for their groups", "full", seconds, True)
    return lines, wanted
