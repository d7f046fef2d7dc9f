# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2154  # tumbler, demo_server, second_build, second_log and build_log are set by scripts/demo
#
# Sourced by scripts/demo: its folder, its servers, and how commands are shown and held against what they must say.
#
#   say LINE…                     a paragraph
#   show COMMAND…                 prints a tumbler command, runs it once, and prints what it says; `status`, output.txt
#   expect STATUS COMMAND…        show, and the story ends here when the exit status is another one
#   expect_fetch STATUS REASON    the app's fetch, with its exit status, its page, and the reason of its decision
#   expect_requests NAME COUNT    so many requests have reached a server since it was started
#   serve NAME ABOVE              a TLS server with NAME.pem and the certificates ABOVE it; its port is in `port`
#   intercept ABOVE               one more, which presents another certificate each time; `interceptor_port`
#   let_pass                      ends that one
#   second_half_is_built          waits until it is
#   broken WHAT                   ends the story with 1
#
# Servers listen on loopback, on ports that the system gives. They are ended by their ids, and the folder is removed,
# however the story ends.

folder=$(mktemp -d)
server=""
interceptor=""
lists=""
fetches=0

end_process() {
    [ -n "$1" ] || return 0
    kill "$1" 2>/dev/null || :
    wait "$1" 2>/dev/null || :
}
leave() {
    [ -z "$second_build" ] || kill -- "-$second_build" 2>/dev/null || :
    end_crowd
    end_process "$server"
    end_process "$interceptor"
    end_process "$lists"
    rm -rf "$folder"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$folder" || exit

say() {
    printf '\n'
    printf '%s\n' "$@"
}
broken() {
    printf '\nThis part of the story did not hold: %s\n' "$1" >&2
    exit 1
}

second_half_is_built() {
    local status=0 ticker=""
    if kill -0 "$second_build" 2>/dev/null; then
        say "(What comes next needs the service, which is being built.)"
        show_progress "$build_log" &
        ticker=$!
    fi
    wait "$second_build" || status=$?
    second_build=""
    end_process "$ticker"
    [ ! -t 1 ] || printf '\r\033[K'
    [ "$status" -eq 0 ] || broken "the service was not built: $(tail -n 40 "$second_log")"
}

# show COMMAND…: long commands are broken before their options, and what was seen before may be cut short.
show() {
    local words=" ${shown_as:-$*}"
    [ ${#words} -lt 90 ] || words=${words// --/ \\$'\n'      --}
    printf '\n  $ tumbler%s\n' "$words"
    status=0
    "$tumbler" "$@" >output.txt 2>notes.txt || status=$?
    sed 's/^/    /' notes.txt output.txt
}
expect() {
    local expected=$1
    shift
    show "$@"
    [ "$status" -eq "$expected" ] || broken "the exit status is $status, not $expected"
    [ "$expected" -eq 0 ] || printf '  (exit status %d)\n' "$status"
}

# reason_is REASON COMMAND…: the reason in the decision that a command prints as JSON.
reason_is() {
    local reason=$1 decision
    shift
    decision=$("$tumbler" "$@" --json 2>notes.txt) || :
    grep -q "\"reason\" *: *\"$reason\"" <<<"$decision" ||
        broken "the reason is not $reason: $decision $(cat notes.txt)"
}

# The request of the app of the story, and the answer that it expects. `port` is where its server is just now.
expect_fetch() {
    local expected=$1 reason=$2
    local app=(
        "https://$host/page" --list-url "$lists_url" --root app/tumbler-root.json --bundled app/tumbler-pins.json
        --state app/state --cacert roots.pem --connect-to "$host:443:127.0.0.1:$port"
    )
    [ "$fetches" -eq 0 ] || local shown_as="fetch https://$host/page …   (as before)"
    fetches=$((fetches + 1))
    expect "$expected" fetch "${app[@]}"
    [ "$expected" -ne 0 ] || cmp -s output.txt site/page || broken "the page is another one: $(cat output.txt)"
    [ "$expected" -eq 0 ] || [ ! -s output.txt ] || broken "something was printed of a page that was refused"
    reason_is "$reason" fetch "${app[@]}" --decision
}

# wait_for LOG WORDS PROCESS: the line of a server that says that it listens.
wait_for() {
    local line=""
    for _ in {1..12000}; do
        line=$(grep -s -m 1 "$2" "$1") && break
        kill -0 "$3" 2>/dev/null || break
        sleep 0.05
    done
    [ -n "$line" ] || broken "a server did not start: $(cat "$1")"
    printf '%s' "$line"
}

serve() {
    end_process "$server"
    cat "$1.pem" "$2" >"$1-chain.pem"
    # The server opens its log when it gets to it: until then there would be the port of the one before.
    : >"$1.log"
    "$demo_server" site "$1-chain.pem" "$1.key" </dev/null >"$1.log" 2>&1 &
    server=$!
    port=$(wait_for "$1.log" '^[0-9]' "$server")
}
intercept() {
    local certificates=() number
    for number in {1..6}; do
        cat "interceptor-$number.pem" "$1" >"interceptor-$number-chain.pem"
        certificates+=("interceptor-$number-chain.pem" "interceptor-$number.key")
    done
    : >interceptors.log
    "$demo_server" site "${certificates[@]}" </dev/null >interceptors.log 2>&1 &
    interceptor=$!
    # shellcheck disable=SC2034  # used by scripts/demo-operations.bash
    interceptor_port=$(wait_for interceptors.log '^[0-9]' "$interceptor")
}
let_pass() {
    end_process "$interceptor"
    interceptor=""
}
expect_requests() {
    local count
    count=$(grep -c '^request' "$1.log") || :
    [ "$count" -eq "$2" ] || broken "$count requests have reached the server, not $2: $(tail -n 5 "$1.log")"
}

# The host of the lists: any web server will do.
serve_lists() {
    local line
    python3 -u -m http.server --bind 127.0.0.1 --directory www 0 </dev/null >lists.log 2>&1 &
    lists=$!
    line=$(wait_for lists.log '^Serving' "$lists")
    line=${line#*port }
    lists_url=http://127.0.0.1:${line%% *}/v1/lists/com.example.app
}

# The pin of a public key, computed by openssl alone.
pin_by_openssl() {
    printf 'sha256/%s' "$(openssl pkey -pubin -in "$1" -outform DER | openssl dgst -sha256 -binary | openssl base64 -A)"
}
