# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2154  # what scripts/demo and scripts/demo-stage.bash set
#
# Sourced by scripts/demo: the service, the installations that talk to it, and how both are held against what they must
# say.
#
#   start_service                 the webhook and `tumbler serve` on SQLite; its address is in `service`
#   start_clients COUNT           so many installations of the app, with what it ships just now
#   clients COMMAND ANSWER        has them do something (see demo-clients) and compares their line of JSON
#   await STATEMENT WHAT          until a statement in Python about the service's status `s` holds; else the story ends
#   half_a_day_later COMMAND…     all ask for a newer list, by COMMAND, half a day after they did so before
#   end_crowd                     ends all of them
#
# All of them run on loopback, in the story's folder.

crowd=""
service_process=""
webhook_process=""
# The longest wait for an answer or a figure, in seconds. Alarms are looked at each 15 s. (Less for tests of this.)
patience=${DEMO_PATIENCE:-600}

end_crowd() {
    exec 7>&- 8<&-
    end_process "$crowd"
    end_process "$service_process"
    end_process "$webhook_process"
}

start_service() {
    local line
    mkdir service
    "$demo_webhook" </dev/null >webhook.log 2>&1 &
    webhook_process=$!
    line=$(wait_for webhook.log '^[0-9]' "$webhook_process")
    printf 'http://127.0.0.1:%s/\n' "$line" >service/webhook.url
    cat >service/service.yaml <<CONFIGURATION
listen: 127.0.0.1:0
dataDir: $folder/service/data
names: {com.example.app: {root: ../project/root/1.json}}
alerts: [{type: webhook, name: on-call, urlFile: webhook.url}]
# The clients of the demonstration say in X-Forwarded-For where they are.
trustedProxies: [127.0.0.1]
CONFIGURATION
    "$tumbler" serve --config service/service.yaml </dev/null >service.log 2>&1 &
    service_process=$!
    line=$(wait_for service.log '^operator' "$service_process")
    service=${line#operator }
    (umask 077 && "$tumbler" token create --scope read --label demonstration --config service/service.yaml \
        >read.token 2>notes.txt) || broken "no token was made: $(cat notes.txt)"
}

start_clients() {
    mkfifo questions answers
    "$demo_clients" --count "$1" --root app/tumbler-root.json --list app/tumbler-pins.json \
        --list-url "$service/v1/lists/com.example.app" --cacert roots.pem --host "$host" \
        <questions >answers 2>clients.log &
    crowd=$!
    # In this order: each end waits for the other one.
    exec 7>questions 8<answers
}

clients() {
    local answer=""
    printf '\n  $ demo-clients: %s\n' "$1"
    printf '%s\n' "$1" >&7
    IFS= read -r -t "$patience" -u 8 answer || broken "the clients do not answer: $(cat clients.log)"
    printf '    %s\n' "$answer"
    [ "$answer" = "$2" ] || broken "that is not $2"
}

# holds STATEMENT: whether it holds of status.json, `s`; `asked` and `share` are how many asked for the list in the last
# twelve hours, and which part of them holds each version.
holds() {
    python3 -c 'import json, sys
s = json.load(open("status.json"))
adoption = s["names"][0]["adoption"]
sys.exit(not eval(sys.argv[1], {"s": s, "asked": adoption.get("base", 0), "share": adoption.get("share", {})}))
' "$1"
}

await() {
    local until=$((SECONDS + patience))
    while :; do
        status=0
        "$tumbler" status --server "$service" --token-file read.token --json >status.json 2>notes.txt || status=$?
        [ "$status" -le 1 ] || broken "the service gives no status: $(cat notes.txt)"
        ! holds "$1" || break
        [ "$SECONDS" -lt "$until" ] || broken "$2 is not what the service says: $(cat status.json)"
        sleep 0.25
    done
    printf '  (the service says so, too: %s)\n' "$2"
}

# In one transaction, and when the new requests are there: at no time is there half a day without requests, which would
# be an alarm.
inquiries() {
    python3 - "$1" "$patience" service/data/tumbler.sqlite <<'PYTHON'
import json
import sqlite3
import sys
import time

command, patience, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
database = sqlite3.connect(path, timeout=30, isolation_level=None)


def rows():
    return database.execute("SELECT name, hour, source, digest, SUM(count) FROM inquiry GROUP BY 1, 2, 3, 4").fetchall()


if command == "remember":
    json.dump(rows(), open("inquiries.json", "w"))
    sys.exit()
before = [tuple(row) for row in json.load(open("inquiries.json"))]
expected = sum(row[4] for row in before) + int(command)
until = time.monotonic() + patience
while sum(row[4] for row in rows()) < expected:
    if time.monotonic() > until:
        sys.exit(1)
    time.sleep(0.1)
database.execute("BEGIN IMMEDIATE")
counts = {row[:4]: row[4] for row in rows()}
for row in before:
    counts[row[:4]] -= row[4]
for name, hour, source, digest, count in before:
    key = (name, hour - 12, source, digest)
    counts[key] = counts.get(key, 0) + count
database.execute("DELETE FROM inquiry")
database.executemany(
    "INSERT INTO inquiry (name, hour, source, digest, count) VALUES (?, ?, ?, ?, ?)",
    [key + (count,) for key, count in counts.items() if count > 0])
database.execute("COMMIT")
PYTHON
}

half_a_day_later() {
    printf '\n  (Twelve hours pass. The demonstration does not wait: in the database earlier requests become older.)\n'
    inquiries remember
    "$@"
    inquiries "$all" || broken "the service has not counted $all requests"
}
