#!/bin/sh
# How far recurrence is from simgrid, by fabric and by operation: a table of each.
# usage: compare_fabrics.sh PROGRAM [ROWS.csv]
# Cases: all operations and algorithms, the squarest grid, 64 GPUs, 1 MB and 16 MiB, fp16, window 8,
# on thirteen fabrics; ROWS.csv keeps every one of them. Differences below 1e-9 are of the digits.
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
program=$1 rows=${2:-/dev/null}

# rows_of FABRIC CLUSTER KEY=VALUE...: fabric, operation, algorithm, payload, engine, seconds, exactness
rows_of() {
    fabric=$1 cluster=$2
    shift 2
    for setting in "$@"; do
        shift
        set -- "$@" --set "$setting"
    done
    "$program" sweep --cluster "$cluster" "$@" --operation all --algorithms all --shapes square --gpus 64 \
        --payload 1MB,16MiB --precision fp16 --window 8 --engine simgrid,recurrence --format csv --quiet \
        --columns operation,algorithm,payload_bytes,engine,allreduce_s,exact | sed "1d;s/^/$fabric,/"
}

tree="rack.nodes=8 rack.uplinks=4 rack.uplink_bandwidth=10GB/s"
nodes="gpus_per_node=4 nvlink.pairs=switch nvlink.bandwidth=100GB/s nvlink.latency=3us hcas=4 nodes=16"
dragonfly="dragonfly.routers=4 dragonfly.local_bandwidth=10GB/s dragonfly.global_bandwidth=10GB/s"
grid="nodes=64 torus.lengths=4x4x4 torus.link_bandwidth=7GB/s"
# shellcheck disable=SC2086 # settings are words
{
    rows_of "one switch" flat
    rows_of "racks 2:1, ideal" flat $tree
    rows_of "racks 2:1, dmodk" flat $tree fabric.routes=dmodk
    rows_of "racks 2:1, hash" flat $tree fabric.routes=hash:1
    rows_of "rails" flat $nodes tree.rails=nvlink rack.nodes=8 rack.uplinks=4 rack.uplink_bandwidth=10GB/s
    rows_of "NVLink domains" flat $nodes nvlink.domain_nodes=4
    rows_of "switches that sum" flat $nodes $tree tree.rails=nvlink nvlink.sums=yes fabric.sums=yes
    rows_of "torus 4x4x4" flat $grid fabric=torus
    rows_of "mesh 4x4x4" flat $grid fabric=mesh
    rows_of "dragonfly, ideal" flat $dragonfly nodes=64 fabric=dragonfly dragonfly.groups=8 router.nodes=2 dragonfly.global_links=2
    rows_of "dragonfly, hash" flat $dragonfly nodes=64 fabric=dragonfly dragonfly.groups=8 router.nodes=2 \
        dragonfly.global_links=2 fabric.routes=hash:1
    rows_of "dragonfly+, ideal" flat $dragonfly nodes=64 fabric=dragonfly+ dragonfly.groups=4 router.nodes=4 \
        dragonfly.spines=4 dragonfly.global_links=4
    rows_of "dragonfly+, hash" flat $dragonfly nodes=64 fabric=dragonfly+ dragonfly.groups=4 router.nodes=4 \
        dragonfly.spines=4 dragonfly.global_links=4 fabric.routes=hash:1
} | tee "$rows" | awk -F, '
    function magnitude(x) { return x < 0 ? -x : x }
    function add(table, key, error, is_exact,    i, n) {
        if (!((table, key) in rows)) { order[table, ++keys[table]] = key; rows[table, key] = exact[table, key] = 0 }
        rows[table, key]++
        if (is_exact) {
            exact[table, key]++
            if (magnitude(error) > worst[table, key]) worst[table, key] = magnitude(error)
        }
        n = rows[table, key]
        if (n == 1 || error < lowest[table, key]) lowest[table, key] = error
        if (n == 1 || error > highest[table, key]) highest[table, key] = error
        for (i = n; i > 1 && sorted[table, key, i - 1] > magnitude(error); i--)
            sorted[table, key, i] = sorted[table, key, i - 1]
        sorted[table, key, i] = magnitude(error)
        if (magnitude(error) > 0.1) far[table, key]++
    }
    function print_table(table, title,    i, key, n, within) {
        printf "| %s | rows | called exact | off by more than 10 %% | median | lowest | highest |\n", title
        print "|---|--:|---|--:|--:|--:|--:|"
        for (i = 1; i <= keys[table]; i++) {
            key = order[table, i]
            n = rows[table, key]
            within = worst[table, key] < 1e-9 ? 1e-9 : worst[table, key]
            within = exact[table, key] == 0 ? "" : sprintf(", within %.0e", within)
            printf "| %s | %d | %d%s | %d | %.1f %% | %+.1f %% | %+.1f %% |\n", key, n, exact[table, key], within,
                far[table, key], 100 * sorted[table, key, int((n + 1) / 2)], 100 * lowest[table, key], 100 * highest[table, key]
        }
    }
    # fields counted from the end, since names of fabrics have commas
    {
        engine = $(NF - 2); fabric = $1
        for (i = 2; i <= NF - 6; i++) fabric = fabric "," $i
        key = fabric "/" $(NF - 5) "/" $(NF - 4) "/" $(NF - 3)
    }
    engine == "simgrid" { simulated[key] = $(NF - 1); next }
    (key in simulated) && simulated[key] > 0 {
        error = $(NF - 1) / simulated[key] - 1
        add("fabric", fabric, error, $NF == "yes")
        add("operation", $(NF - 5), error, $NF == "yes")
    }
    END { print_table("fabric", "fabric"); print ""; print_table("operation", "operation") }'
