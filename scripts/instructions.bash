# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by scripts/bench-connections and scripts/bench-attest: counts instructions under valgrind. What starts and ends a
# process is the same for few repetitions and for many, and falls out of their difference. Two commands are counted in turn;
# medians, the spread of each, and the median of the pairs' ratios: the runtime's tables of types are hashed by address, and a
# run finds more or fewer of them at once, by up to one per cent.
#
# Never two at once: clients that ran side by side moved one another's counts. How a client's threads take turns changes them as
# well: PinnedHTTPClient over HTTP/1.1 had 1.016 of the plain client under callgrind, 0.987 under cachegrind, and 0.972 under
# cachegrind side by side. A difference of two per cent over HTTP/1.1 is not a result.
#
# The script that sources this makes and removes `folder`. `failures` is the number of measurements that were not made, or are
# above their limit.

failures=0

# instructions COMMAND…: the instructions of all of its threads, which valgrind runs one after the other. It counts one
# instruction for each byte that `rep movsb` copies, so glibc is told to copy without it. Without caches to simulate,
# cachegrind takes half of callgrind's time. No count is a failure.
instructions() {
    if ! GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824 \
        valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --fair-sched=yes "$@" >/dev/null \
        2>"$folder/said"; then
        tail -n 20 "$folder/said" >&2
        return 1
    fi
    sed -n 's/^==[0-9]*== I *refs: *//p' "$folder/said" | tr -d , | grep .
}

# one FEW MANY COMMAND…: instructions of one of many.
one() {
    local few=$1 many=$2 for_few for_many
    for_few=$("${@:3}" "$few") && for_many=$("${@:3}" "$many") || return 1
    printf '%d\n' $(((for_many - for_few) / (many - few)))
}

# middle COLUMN: the median of a column of $folder/pairs, the least and the most.
middle() {
    awk -v column="$1" '{ printf "%.6f\n", $column }' "$folder/pairs" | sort -g |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

# measure NAME LIMIT|- PAIRS FEW MANY COMMAND PLAIN PINNED REST…: counts both in turn, so many times; the medians, and that
# of the ratios, held against the limit if there is one.
measure() {
    local name=$1 limit=$2 pairs=$3 few=$4 many=$5 command=$6 plain=$7 pinned=$8 pair without with ratio verdict=''
    shift 8
    : >"$folder/pairs"
    for ((pair = 0; pair < pairs; pair++)); do
        # shellcheck disable=SC2086  # several words, or none
        if ! without=$(one "$few" "$many" "$command" $plain "$@") || ! with=$(one "$few" "$many" "$command" $pinned "$@"); then
            printf '  %s: not measured, the client failed\n' "$name"
            failures=$((failures + 1))
            return 0
        fi
        awk -v a="$without" -v b="$with" 'BEGIN { print a, b, b / a }' >>"$folder/pairs"
    done
    read -r -a without < <(middle 1)
    read -r -a with < <(middle 2)
    read -r -a ratio < <(middle 3)
    printf '  %s: %.0f without (%.0f to %.0f), %.0f with (%.0f to %.0f)\n' "$name" "${without[@]}" "${with[@]}"
    if [ "$limit" != - ]; then
        verdict=" (at most $limit): holds"
        if awk -v r="${ratio[0]}" -v m="$limit" 'BEGIN { exit !(r > m) }'; then
            verdict=" (at most $limit): DOES NOT HOLD"
            failures=$((failures + 1))
        fi
    fi
    printf '  %s, ratio: %.4f%s\n' "$name" "${ratio[0]}" "$verdict"
}
