# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2154  # what scripts/demo and what it sources set
#
# Sourced by scripts/demo: chapters 9 to 13, with the service and 200 installations.

# The number of the newest list, and of the installations.
version=4
all=200
# The number of clients in two offices: the first ones.
in_offices=8

# publish_list: a release that the service takes.
publish_list() {
    version=$((version + 1))
    expect 0 release -C project --yes --token-file publish.token
    grep -q "version $version," output.txt || broken "the list is not version $version"
}
# all_clients_ask CHANGED: all ask for a newer list; so many had an older one.
all_clients_ask() {
    clients refresh "{\"changed\":$1,\"did\":\"refresh\",\"failed\":{},\"versions\":{\"$version\":$all}}"
}
# all_clients_get_the_page REASON
all_clients_get_the_page() {
    clients "fetch $port" "{\"allowed\":{\"$1\":$all},\"did\":\"fetch\",\"failed\":{},\"refused\":{}}"
}
# some_get_the_page FROM ALLOWED REFUSED: those who do not are refused because no pin matches.
some_get_the_page() {
    clients "fetch $1" \
        "{\"allowed\":{$2},\"did\":\"fetch\",\"failed\":{},\"refused\":{\"no-matching-pin\":$3}}"
}
# reports_have_arrived TOTAL: since the beginning.
reports_have_arrived() {
    clients "reports $1" "{\"accepted\":$1,\"did\":\"reports\",\"turnedAway\":0}"
}
# probe_and_push: what the server serves just now goes to the service.
probe_and_push() {
    expect 0 probe -C project --cacert roots.pem --connect-to "$host:443:127.0.0.1:$port" --push \
        --token-file publish.token
}
add_pin() {
    sed -i.bak "/^    pins:/a\\
      - {pin: \"$(pin_by_openssl "$1.pub")\", note: \"$2\"}" project/tumbler.yaml
}

say "9. The app has users now. The owner starts the service: it serves the lists, takes failure reports, shows what" \
    "   happens and sends alarms. It is one program with one database. Tokens are made on its machine: one that" \
    "   reads, and one that publishes. Without a token there is no reading and no publishing."
start_service
printf '\n  $ tumbler serve --config service/service.yaml\n    operator %s\n' "$service"
# Not shown by `expect`: what it prints is a secret.
create=(token create --config service/service.yaml --scope publish --name com.example.app --label releases)
printf '\n  $ tumbler %s >publish.token\n' "${create[*]}"
(umask 077 && "$tumbler" "${create[@]}" >publish.token 2>notes.txt) || broken "no token was made: $(cat notes.txt)"
sed -i.bak "s|^reportTo:.*|reportTo: [$service/v1/reports]\\
server: $service|" project/tumbler.yaml
publish_list
cp project/pins.json app/tumbler-pins.json
probe_and_push
say "   The next version of the app ships that list. $all installations start, ask for a newer one, and get the page."
start_clients "$all"
all_clients_ask 0
all_clients_get_the_page pin-match
expect_requests backup $((all + 2))
await "asked == $all and share['$version'] == 1" "$all of $all hold version $version"

say "10. A second backup key is made, while nothing burns. When may the server use it? When all have its pin." \
    "    A client names the list that it holds whenever it asks for a newer one: so the service can count."
add_pin reserve "second backup"
publish_list
clients "refresh 120" "{\"changed\":120,\"did\":\"refresh\",\"failed\":{},\"versions\":{\"$version\":120}}"
await "asked == $((all + 120)) and share['$version'] == 0" \
    "no client has said yet that it holds version $version"
half_a_day_later all_clients_ask 80
await "asked == $all and share['$version'] == 0.6" "60 % hold version $version"
expect 1 status --server "$service" --token-file read.token --list-version "$version" --min-adoption 99
half_a_day_later all_clients_ask 0
await "asked == $all and share['$version'] == 1" "100 % hold version $version"
expect 0 status --server "$service" --token-file read.token --list-version "$version" --min-adoption 99

say "11. In two offices connections are opened and looked into, by a box whose root the devices there trust. It" \
    "    makes another certificate for each connection. The $in_offices clients there refuse, and report; the others" \
    "    notice nothing."
intercept interceptor-root.pem
some_get_the_page "$port $in_offices $interceptor_port" "\"pin-match\":$((all - in_offices))" $in_offices
! grep -q '^request' interceptors.log || broken "the interceptor got a request: $(cat interceptors.log)"
reports_have_arrived $in_offices
let_pass
await "[(g['kind'], g['count']) for g in s['groups']] == [('interception', $in_offices)] and not s['alarms']" \
    "interception, in few places, and nothing to get up for"
expect 0 status --server "$service" --token-file read.token
grep -q "Example Inspection Root" output.txt || broken "the status does not name the issuer"

say "12. And then chapter 5 again, with users: an admin renews the certificate, and takes a new key. It is of the" \
    "    usual authority, and browsers are happy. Every app refuses."
serve stranger above.pem
some_get_the_page "$port" "" $all
expect_requests stranger 0
reports_have_arrived $((all + in_offices))
say "    The service does not say interception this time: one key, of a public authority, seen from many networks." \
    "    It rings:"
await "sum(g['count'] for g in s['groups'] if g['kind'] == 'rotation') == $all" \
    "a server presents a key that the list does not have"
await "[(a['kind'], a['severity']) for a in s['alarms']] == [('failure-rate', 'critical')]" "an alarm"
expect 1 status --server "$service" --token-file read.token
head=""
for ((i = 0; i < patience * 4; i++)); do
    head=$(sed -n 's/.*"event":"firing".*"kind":"failure-rate".*"auditHead":"\([0-9a-f]*\)".*/\1/p' webhook.log)
    [ -z "$head" ] || break
    sleep 0.25
done
[ -n "$head" ] || broken "no alarm was sent: $(cat webhook.log)"
printf '\n  The people on call have got:\n'
sed -n 's/^{/    {/p' webhook.log
say "    With it came the digest of the audit log: rewriting the log later does not rewrite the message."
expect 0 audit-log verify --config service/service.yaml --head "$head"

say "13. First the users: the kill switch, for two hours. Then the cause: the new key is right, so its pin goes into" \
    "    the list, and pinning is back."
expect 0 suspend "$host" --for 2h --reason "a key that was not announced" -C project
publish_list
all_clients_ask $all
all_clients_get_the_page suspended
expect_requests stranger $all
add_pin stranger "the key that was not announced"
expect 0 resume "$host" -C project
publish_list
all_clients_ask $all
all_clients_get_the_page pin-match
expect_requests stranger $((2 * all))
await "asked == $((3 * all))" "all clients have asked twice more"
say "    The list is right, and still the probe is not content: of those who asked in the last day, many named a list" \
    "    without the new pin. It is when all have asked again."
expect 1 probe -C project --cacert roots.pem --connect-to "$host:443:127.0.0.1:$port"
half_a_day_later all_clients_ask 0
await "s['names'][0]['list']['version'] == $version and share['$version'] == 1" \
    "100 % hold version $version"
half_a_day_later all_clients_ask 0
probe_and_push
