# SPDX-License-Identifier: Apache-2.0
"""Three instances on one PostgreSQL, each with a target of its own that only it can reach. One goes for good, and no instance
knows its target any more."""

import shutil
import time

from instances import LOOK, TURN, Webhook, until
from postgresql import PostgreSQL
from stage import NAME, Service, expect, folder, machine, post

GONE = "third"
# A little more than the seconds for which a target counts as known that no instance named since, and a day.
UNKNOWN, DAY = 660, 90_000


def instance(path, database, name):
    """An instance with a webhook as its one target, which is not started, and the webhook."""
    webhook = Webhook()
    path.mkdir(exist_ok=True)
    (path / "hook").write_text(f"http://127.0.0.1:{webhook.server.server_address[1]}/hook")
    return Service(path, settings=f"database: {database.address}\n"
                   f"alerts: [{{type: webhook, urlFile: {path / 'hook'}, name: {name}}}]"), webhook


def waiting(service):
    """What waits for each target, with whether an instance knows it, as the metrics of an instance say."""
    prefix = "tumbler_notifications_waiting{"
    found = {}
    for name, value in service.metrics().items():
        if name.startswith(prefix):
            target, known = (part.split('"')[1] for part in name[len(prefix):].split(","))
            found[target] = (int(value), known == "true")
    return found


def later(database, names, seconds):
    """Has so much time passed since an instance named some targets, and since something was to be told to them."""
    listed = ", ".join(f"'{name}'" for name in names)
    database.sql(f"UPDATE alert_target SET seen_at = seen_at - {seconds} WHERE name IN ({listed})")
    database.sql(f"UPDATE notification SET made_at = made_at - {seconds} WHERE target IN ({listed})")


def prove(_):
    with folder() as path:
        path.chmod(0o755)
        loaded, database = machine(), PostgreSQL(path / "pg")
        try:
            lines = tell(path, database)
        finally:
            database.stop()
    return [f"Three instances on one PostgreSQL, each with a webhook of its own as its one target; {loaded}.", "", *lines]


def tell(path, database):
    first, first_hook = instance(path / "first", database, "first")
    first.start()
    first.publish()
    others = {}
    for name in ("second", GONE):
        (path / name).mkdir()
        shutil.copytree(path / "first" / "app", path / name / "app")
        others[name] = instance(path / name, database, name)
        others[name][0].start()
    second, second_hook = others["second"]
    gone, gone_hook = others[GONE]
    until(lambda: set(waiting(first)) == {"first", "second", GONE}, 3 * LOOK, "an instance does not name its target")
    gone.kill()

    # Both tell their own of what one of them saw.
    connection = first.connection()
    for number in range(40):
        expect(post(connection, number, "alarm.example.com", noted="api1.example.com") == 202, "a report was refused")
    failing = [("firing", "failure-rate:api1.example.com")]
    both = until(lambda: first_hook.events("failure-rate") and second_hook.events("failure-rate"), TURN + 3 * LOOK,
                 "an alarm was not told to both targets")
    second.kill()

    # What is for a target that no instance reaches waits, and is said once no instance has named it for ten minutes.
    secret = first.local("token", "create", "--scope", "publish", "--name", NAME).strip()
    answer = first.ask("PUT", f"/v1/lists/{NAME}", b"[", {"Authorization": "Bearer " + secret})
    expect(answer.status == 422, f"a broken publication was answered with {answer.status}")
    refused = [("firing", f"publish-refused:{NAME}")]
    until(lambda: first_hook.events("publish-refused"), TURN + 3 * LOOK, "an alarm was not told to the target of the one that runs")
    later(database, ["second", GONE], UNKNOWN)
    # Another round of sending goes by.
    time.sleep(LOOK + 2)
    left = waiting(first)
    expect(left == {"first": (0, True), "second": (1, False), GONE: (2, False)}, f"in the metrics these wait: {left}")
    page = first.look("/alarms").body.decode()
    expect(page.count("No instance that runs knows") == 2, "the page of alarms does not say which targets no instance knows")

    # The one that comes back tells what waited for it, and nothing twice.
    second.start()
    back = until(lambda: second_hook.events("publish-refused"), 3 * LOOK, "the one that came back does not tell what waited for it")
    until(lambda: waiting(first)["second"] == (0, True), 3 * LOOK, "its target does not count as known again")

    # After a day, what no instance can deliver is given up, and the log says so.
    expect(waiting(first)[GONE] == (2, False), "what no instance can deliver does not wait any more")
    later(database, [GONE], DAY)
    said = f"2 notifications were not delivered and are given up: no instance has known target {GONE} for a day"
    until(lambda: any(said in service.said() for service in (first, second)), 3 * LOOK, "no log says what was given up")
    lost = first.metrics().get(f'tumbler_notifications_lost_total{{target="{GONE}"}}')
    expect(lost == 2, f"in the metrics {lost} were given up")
    for name, hook in (("first", first_hook), ("second", second_hook)):
        for kind, events in (("failure-rate", failing), ("publish-refused", refused)):
            expect(hook.events(kind) == events, f"the target of the {name} was told {hook.events(kind)}")
    expect(not gone_hook.told, "the target of the one that was gone was told something")
    for service in (first, second):
        expect(service.stop() == 0, "an instance ended with a failure")
    return [f"* Of many failures each of the two that ran told its own target, within {both:.0f} s.",
            "* With the second one killed a refused publication was told by the first alone. What was for the others waited, 1 and 2; "
            "once no instance had named their targets for ten minutes (the times in the database were set back) the metrics and "
            "the page of alarms said so, and nothing was deleted.",
            f"* The second one told what had waited for it {back:.0f} s after it was started again. Nothing was told twice.",
            "* Of the third one, which did not come back, the log and the metrics said a day later (set back likewise) that 2 were "
            "given up."]
