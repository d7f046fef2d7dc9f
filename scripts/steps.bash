# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts beside it: goes to the checkout and runs long commands as named steps.
#
#   step LOG TITLE COMMAND…   says TITLE, runs COMMAND with its output in .build/logs/LOG.log, says how long it took.
#                             While it runs: on a terminal the log's newest line, else a line each minute; of a build
#                             the objects done and to do. A step whose name begins with `build-` counts as compiling.
#   whole_checkout [FOLDER…]  sets `whole`: SwiftPM's arguments for all packages of the checkout as one build, with
#                             these packages beside them
#   check NAME TITLE COMMAND… a step that scripts/tally counts as one test, or as many as it names; what cannot be counted
#                             ends the shell
#   same_versions PACKAGE     lets a package with a build of its own begin with the versions of dependencies of that one build
#   made_with                 says the versions of dependencies, once they are resolved, and of the compiler
#   tests PACKAGE ARGUMENT…   runs tests that were built: as `swift test --skip-build`, without a plan and its lock
#
# A step that fails prints what a test run calls failures, the last 60 lines of its log (without what started and passed)
# and the log's path, and returns the command's status. Long lines are cut: the log has them whole.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Where everything is built; a clone may use another one's.
scratch=${TUMBLER_SCRATCH:-.build}
logs=$scratch/logs
mkdir -p "$logs"
# The versions that the dependencies of all packages were resolved to.
resolved=$scratch/tumbler.xcworkspace/xcshareddata/swiftpm/Package.resolved
# Python writes no files into the checkout: a proof is made from all that is there (scripts/proof).
export PYTHONDONTWRITEBYTECODE=1

# Flags for every SwiftPM build: no debug information, which nothing here looks at (TUMBLER_DEBUGGER=1 keeps it, for a
# debugger). The index stays: SwiftPM finds tests in it.
swift_flags=()
[ "${TUMBLER_DEBUGGER:-0}" = 1 ] || swift_flags+=(-debug-info-format none)

# Apart from the rest, and one after the other: tests that look at what this process has open or mapped, and those of
# Foundation's URLSession, which on Linux takes what a server sends while its own threads wait for their turn.
# SwiftPM runs them apart, too, in ci.yml and on a Mac (Tests/Packaging/alone).
# shellcheck disable=SC2034  # used by the scripts that source this one
alone='ConnectionLoadTests/|ThisProcess(Tests)?/|URLSessionFetcherTests/'

# Warnings in this project's own packages are errors with the compiler that it was made with; another one may warn of
# more. SwiftPM drops the flag for packages that it fetched.
tested_compiler="Swift version 6.3"
if [ -z "${TUMBLER_STRICT:-}" ]; then
    case $(swift --version 2>/dev/null) in *"$tested_compiler"*) TUMBLER_STRICT=1 ;; *) TUMBLER_STRICT=0 ;; esac
    export TUMBLER_STRICT
fi
if [ "$TUMBLER_STRICT" = 1 ]; then
    swift_flags+=(-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)
fi

# SwiftPM keeps traits in a set and writes them to the compiler's arguments in the order of their hashes. With hashes that
# differ in each run it compiles every module with two traits again, half of the time.
swift() { SWIFT_DETERMINISTIC_HASHING=1 command swift "$@"; }

# All packages of the checkout are roots of one build: one resolution and one plan, so that SwiftPM compiles what they
# share once and throws nothing away.
whole_checkout() {
    local workspace=$scratch/tumbler.xcworkspace folder
    local folders=(. Service Tests/AppleShims "$@")
    case $(swift build --help-hidden 2>/dev/null) in
    *--multiroot-data-file*) ;;
    *)
        printf 'This Swift does not build several packages at once (--multiroot-data-file), which the scripts do. Use Swift 6.3;\n' >&2
        printf 'each package also builds by itself: swift build --package-path Service. See docs/decisions/0032-one-build-of-the-checkout.md.\n' >&2
        exit 2
        ;;
    esac
    mkdir -p "$workspace/xcshareddata/swiftpm"
    {
        printf '<?xml version="1.0" encoding="UTF-8"?>\n<Workspace version="1.0">\n'
        for folder in "${folders[@]}"; do
            folder=$PWD/$folder
            folder=${folder//&/"&amp;"}
            folder=${folder//</"&lt;"}
            printf '  <FileRef location="absolute:%s"/>\n' "${folder//\"/"&quot;"}"
        done
        printf '</Workspace>\n'
    } >"$workspace/contents.xcworkspacedata"
    # The roots change from one command to the next, and SwiftPM would take the plan that it made for others.
    # shellcheck disable=SC2034  # used by the scripts that source this one
    whole=(--multiroot-data-file "$workspace" --scratch-path "$scratch" --disable-build-manifest-caching
        "${swift_flags[@]}")
}

# SwiftPM takes what is there, where the manifests allow it, and drops what the package does not use.
same_versions() {
    if [ -s "$resolved" ] && ! [ "$1/Package.resolved" -nt "$resolved" ]; then cp "$resolved" "$1/Package.resolved"; fi
}

made_with() {
    grep -E '"(identity|revision|version)" :' "$resolved"
    swift --version 2>/dev/null
}

# Sixteen tests at a time (Swift 6.3; another version that does not know the option runs all at once): with a thousand
# begun at once each lasts as long as all of them, and no deadline in one is ample. --no-parallel goes before it.
tests() {
    "$scratch/debug/$1PackageTests.xctest" --testing-library swift-testing \
        --experimental-maximum-parallelization-width 16 "${@:2}"
}

# tested NAME TITLE PACKAGE ARGUMENT…: runs tests of a package as a step, and counts the events that they write.
tested() {
    local status=0 events=$logs/$1.events
    rm -f "$events"
    step "$1" "$2" tests "${@:3}" --event-stream-output-path "$events" --event-stream-version 0 || status=$?
    scripts/tally swift "${2#Testing }" "$events" "$status" || exit
    return "$status"
}

# elapsed SECONDS: "8 s", "2 min 5 s".
elapsed() {
    if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# Shows what LOG says until the script that called it is gone or kills it.
show_progress() {
    local line columns said=0 began=$SECONDS
    columns=$(tput cols 2>/dev/null || echo 80)
    while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        if [ ! -t 1 ] && [ $((SECONDS - began)) -lt $((said + 60)) ]; then continue; fi
        said=$((SECONDS - began))
        line=$(tail -n 1 "$1" 2>/dev/null | tr -d '\r\033')
        # SwiftPM's own count: it finds more to do while it goes.
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then
            line="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} objects: ${BASH_REMATCH[3]}"
        fi
        if [ -t 1 ]; then
            printf '\r\033[K   %s' "${line:0:columns-4}"
        else
            printf '   after %s: %s\n' "$(elapsed "$said")" "${line:0:100}"
        fi
    done
}

step() {
    local name=$1 log="$logs/$1.log" title=$2 status=0 ticker began=$SECONDS
    shift 2
    printf '== %s …\n' "$title"
    show_progress "$log" &
    ticker=$!
    # What scripts/tally adds up: the step, the one that it is part of, and its seconds: wall, user, system.
    local parent=${TUMBLER_STEP:--} TIMEFORMAT="%R %U %S"
    { time TUMBLER_STEP=$name "$@" >"$log" 2>&1 </dev/null; } 2>"$log.time" || status=$?
    printf '%s %s %s\n' "$name" "$parent" "$(tail -n 1 "$log.time")" >>"$logs/times"
    rm -f "$log.time"
    kill "$ticker" 2>/dev/null || :
    wait "$ticker" 2>/dev/null || :
    [ ! -t 1 ] || printf '\r\033[K'
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

check() {
    local name=$1 title=$2 status=0
    shift 2
    step "check-$name" "$title" "$@" || status=$?
    scripts/tally script "$name" "$logs/check-$name.log" "$status" || exit
    return "$status"
}

# Whether bash can read each script that is one of its own.
shell_syntax() {
    local script
    for script in scripts/* .ci/run Tests/Packaging/* Tests/Packaging/*/*; do
        if [ -f "$script" ] && head -n 1 "$script" | grep -q bash; then bash -n "$script" || return; fi
    done
}
