#!/bin/sh
# How far the engines recurrence and closed are from simgrid: the table of README.md.
# usage: compare_engines.sh PROGRAM CLUSTER [GPUS_MAX]
# Cases: all grids of 16, 32, ... GPUS_MAX (256) GPUs, fp16, two channels, window 8; trees once more in
# the shape that they have if none is given. Differences below 1e-9 are of the digits of the rows.
set -eu

if [ $# -lt 2 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
program=$1 cluster=$2 gpus_max=${3:-256}

# rows NAME ALGORITHM GPUS PAYLOAD OPTION...: name, payload, engine, seconds and exactness by each engine
rows() {
    row_name=$1 row_algorithm=$2 row_gpus=$3 row_payload=$4
    shift 4
    for engine in simgrid recurrence closed; do
        "$program" allreduce --cluster "$cluster" --algorithm "$row_algorithm" --gpus "$row_gpus" \
            --payload "$row_payload" --precision fp16 --channels 2 --window 8 --engine "$engine" --columns allreduce_s,exact --format csv \
            --quiet "$@" | sed -n "2s/^/$row_name,$row_payload,$engine,/p"
    done
}

for algorithm in ring hierarchical torus2d tree "tree of nodes"; do
    for payload in 1MB 51114064B; do
        gpus=16
        while [ "$gpus" -le "$gpus_max" ]; do
            x=$gpus
            while [ "$x" -ge 1 ]; do
                case $algorithm-$x in
                ring-$gpus | "tree of nodes-$gpus") rows "$algorithm" "${algorithm%% *}" "$gpus" "$payload" ;;
                ring-* | "tree of nodes"-*) ;;
                *) rows "$algorithm" "$algorithm" "$gpus" "$payload" --shape "${x}x$((gpus / x))" ;;
                esac
                x=$((x / 2))
            done
            gpus=$((gpus * 2))
        done
    done
done | awk -F, '
    function magnitude(x) { return x < 0 ? -x : x }
    $3 == "simgrid" { simulated = $4; next }
    {
        key = $1 " | " ($2 == "1MB" ? "1 MB" : "51.1 MB") " | " $3
        if (!(key in count)) { order[++keys] = key; count[key] = exact[key] = worst[key] = 0 }
        error = $4 / simulated - 1
        if ($5 == "yes") {
            exact[key]++
            if (magnitude(error) > worst[key]) worst[key] = magnitude(error)
            next
        }
        n = ++count[key]
        if (n == 1 || error < lowest[key]) lowest[key] = error
        if (n == 1 || error > highest[key]) highest[key] = error
        for (i = n; i > 1 && sorted[key, i - 1] > magnitude(error); i--) sorted[key, i] = sorted[key, i - 1]
        sorted[key, i] = magnitude(error)
    }
    END {
        print "| algorithm | payload | engine | called exact | estimates | median | lowest | highest |"
        print "|---|---|---|---|--:|--:|--:|--:|"
        for (k = 1; k <= keys; k++) {
            key = order[k]
            printf "| %s | %s", key, exact[key] == 0 ? "0" : sprintf("%d, within %s", exact[key], worst[key] < 1e-9 ? "1e-9" : sprintf("%.0e", worst[key]))
            if (count[key] == 0) { print " | 0 | | | |"; continue }
            printf " | %d | %.1f %% | %+.1f %% | %+.1f %% |\n", count[key], 100 * sorted[key, int(count[key] / 2) + 1],
                100 * lowest[key], 100 * highest[key]
        }
    }'
