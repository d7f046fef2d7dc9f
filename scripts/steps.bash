# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts beside it: goes to the checkout and runs long commands as named steps.
#
#   step LOG TITLE COMMAND…   says TITLE, runs COMMAND with its output in .build/logs/LOG.log, says how long it took.
#                             On a terminal the log's newest line is shown while it runs; in a pipe nothing is.
#
# A step that fails prints what a test run calls failures, the last 60 lines of its log (without what started and passed)
# and the log's path, and returns the command's status. Long lines are cut: the log has them whole.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One scratch path for every package of the checkout: what they share is compiled once. SwiftPM locks it, and scripts
# run one build after the other.
scratch=.build
logs=$scratch/logs
mkdir -p "$logs"

# Flags for every SwiftPM build. TUMBLER_STRICT=1 (`make check`) refuses warnings in this project's own packages;
# SwiftPM drops that flag for packages that it fetched. A plan that SwiftPM kept for another package in the same scratch
# path looks good to it as long as that package is unchanged: it would say that all is built, and build nothing of this one.
swift_flags=(--disable-build-manifest-caching)
if [ "${TUMBLER_STRICT:-0}" = 1 ]; then
    # shellcheck disable=SC2034  # used by the scripts that source this one
    swift_flags+=(-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)
fi

# Flags for builds and tests of the package Service. TUMBLER_POSTGRESQL=1 (`make check`, `make proof`) takes the store in
# PostgreSQL with them, which needs libpq.
service_flags=(--package-path Service --scratch-path "$scratch" "${swift_flags[@]}")
if [ "${TUMBLER_POSTGRESQL:-0}" = 1 ]; then
    # shellcheck disable=SC2034
    service_flags+=(--traits PostgreSQL)
fi

# elapsed SECONDS: "8 s", "2 min 5 s".
elapsed() {
    if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# Rewrites one line of the terminal with the newest line of LOG until the script that called it is gone or kills it.
show_progress() {
    local columns line
    columns=$(tput cols 2>/dev/null || echo 80)
    while sleep 1 && kill -0 $$ 2>/dev/null; do
        line=$(tail -n 1 "$1" 2>/dev/null | tr -d '\r\033')
        printf '\r\033[K   %s' "${line:0:columns-4}"
    done
}

step() {
    local log="$logs/$1.log" title=$2 status=0 ticker="" began=$SECONDS
    shift 2
    printf '== %s …\n' "$title"
    if [ -t 1 ]; then
        show_progress "$log" &
        ticker=$!
    fi
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ -n "$ticker" ]; then
        kill "$ticker" 2>/dev/null || :
        wait "$ticker" 2>/dev/null || :
        printf '\r\033[K'
    fi
    if [ "$status" -eq 0 ]; then
        printf '   done in %s\n' "$(elapsed $((SECONDS - began)))"
    else
        printf '   FAILED after %s (status %d). The last lines of %s:\n' \
            "$(elapsed $((SECONDS - began)))" "$status" "$log"
        { grep -a -e '^✘' "$log" | head -n 40 && echo …; } | cut -c 1-400 | sed 's/^/   | /' || :
        grep -a -v -e '^◇' -e '^✔' -e '^✘' "$log" | tail -n 60 | cut -c 1-400 | sed 's/^/   | /'
        printf '   All of it: %s\n' "$PWD/$log"
    fi
    return "$status"
}
