#!/bin/sh
# Measures the engines beside their peers and prints the tables of README.md.
# usage: bench.sh PROGRAMS_DIR OUT_DIR [PART...]
#   parts: cases growth rates whole large exchanges peers predictions; default all
#   BENCH_LONG=1    the largest sizes, too                             minutes -> half an hour
#   BENCH_RANKS     ranks of peers                                     "64 192 1024"
#   BENCH_REPEATS   repetitions                                        5 of what is quick to 1 of what is slow
#   BENCH_LIMIT_S   limit for one run, seconds                         600
#   BENCH_PROGRAM, BENCH_SMPIRUN, BENCH_CC, BENCH_SIMGRID, BENCH_COMPILER     set by CMake
set -eu

if [ $# -lt 2 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
programs=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- cases growth rates whole large exchanges peers predictions
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
limit_s=${BENCH_LIMIT_S:-600}
is_long=${BENCH_LONG:-}
failed=0
for part in "$@"; do
    if [ ! -f "$here/part_$part.sh" ]; then
        echo "bench: no part '$part'; expected cases, growth, rates, whole, large, exchanges, peers or predictions" >&2
        exit 64
    fi
done
command -v timeout >/dev/null || {
    echo "bench: no program 'timeout' (coreutils)" >&2
    exit 69
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
trap 'rm -rf "$out"/*.tmp "$out/sweep-out"' EXIT
trap 'exit 130' INT TERM

cpu_model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
provenance=$(printf "%s,%s,%s,%s" "$(date -u +%Y-%m-%dT%H:%MZ)" "$(echo "${cpu_model:-$(uname -m)}" | tr , " ")" \
    "${BENCH_SIMGRID:-unknown}" "$(echo "${BENCH_COMPILER:-unknown}" | tr , " ")")

. "$here/common.sh"
for part in "$@"; do
    . "$here/part_$part.sh" >"$out/$part.md"
    cat "$out/$part.md"
done
if [ -f "$out/peers.csv" ] && [ -f "$out/rates.csv" ] && [ -f "$out/growth.csv" ] && command -v gnuplot >/dev/null; then
    gnuplot -e "out='$out'" "$here/growth.gp"
fi
say "measurements, tables (.md) and pictures are in $out"
exit "$failed"
