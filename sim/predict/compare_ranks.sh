#!/bin/sh
# How far steps that are scheduled by roles, with times of recurrence, are from the same graphs run
# rank by rank in SimGrid: the table of README.md.
# usage: compare_ranks.sh PROGRAM [ROWS.csv]
# Cases: a small GPT (8 layers, hidden size 2048) and one with 8 experts, 8 to 128 GPUs.
# ROWS.csv keeps case, GPUs, messages, both iteration times and the real time of both engines.
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
program=$1 rows=${2:-/dev/null}
columns=gpus,messages_count,iteration_s,wall_s

# row_of CASE CLUSTER MESH BATCH OPTION...: case, GPUs, messages, recurrence, simgrid, wall of each
row_of() {
    title="$2, $1" cluster=$2 mesh=$3 batch=$4
    shift 4
    "$program" predict --cluster "$cluster" --workload gpt --layers 8 --hidden 2048 --heads 16 --seq 1024 --vocab 51200 \
        --mesh "$mesh" --global-batch "$batch" --micro-batch 1 "$@" --check --format csv --quiet --columns $columns |
        awk -F, -v title="$title, $mesh" '
            NR == 2 { first = $3; wall = $4 }
            NR == 3 { printf "%s|%s|%s|%s|%s|%s|%s\n", title, $1, $2, first, $3, wall, $4 }'
}

v100="--precision fp16 --attention unfused"
torus="--set nodes=64 --set fabric=torus --set torus.lengths=4x4x4 --set torus.link_bandwidth=7GB/s"
dragonfly="--set nodes=64 --set fabric=dragonfly --set dragonfly.groups=8 --set dragonfly.routers=4 --set router.nodes=2
    --set dragonfly.global_links=2 --set dragonfly.local_bandwidth=10GB/s --set dragonfly.global_bandwidth=10GB/s --set fabric.routes=hash:1"
flat="$v100 --set gpu.cost_table=v100-sxm2"
experts="--experts 8 --top-k 2"
# shellcheck disable=SC2086 # options are words
{
    row_of data dgx-a100 dp=8 16
    row_of data abci-v100 dp=32 32 $v100
    row_of data flat dp=16 32 $flat
    row_of zero1 dgx-h100 dp=16 32 --strategy zero1
    row_of zero3 dgx-a100 dp=16 16 --strategy zero3
    row_of zero3 abci-v100 dp=16 16 $v100 --strategy zero3
    row_of tensors dgx-a100 tp=8 2
    row_of "tensors of two nodes" abci-v100 dp=2,tp=8 4 $v100
    row_of "sequence parallel" dgx-h100 dp=4,tp=4 8 --sequence-parallel yes
    row_of gpipe dgx-a100 pp=4 8 --schedule gpipe
    row_of 1f1b dgx-h100 pp=8,dp=2 32 --schedule 1f1b
    row_of 1f1b flat pp=4,dp=4 32 $flat --schedule 1f1b
    row_of 1f1b abci-v100 pp=2,dp=8 32 $v100 --schedule 1f1b
    row_of interleaved:2 dgx-a100 pp=4,dp=2 16 --schedule interleaved:2
    row_of experts dgx-a100 dp=2,ep=8 16 $experts
    row_of experts abci-v100 ep=8 8 $v100 $experts
    row_of "1f1b, experts" dgx-a100 pp=2,dp=2,ep=8 32 $experts --schedule 1f1b
    row_of all dgx-h100 pp=2,dp=4,tp=4 16 --schedule 1f1b
    row_of all abci-v100 pp=4,dp=4,tp=4 16 $v100 --schedule 1f1b
    row_of all dgx-a100 pp=4,dp=4,tp=8 16 --channels 2 --schedule 1f1b
    row_of "torus 4x4x4" flat pp=2,dp=4,tp=2 8 $flat $torus
    row_of "dragonfly, hash routes" flat pp=4,dp=8 32 $flat $dragonfly
} | tee "$rows" | awk -F'|' '
    function magnitude(x) { return x < 0 ? -x : x }
    BEGIN {
        print "| case | GPUs | messages | by roles | rank by rank | difference |"
        print "|---|--:|--:|--:|--:|--:|"
    }
    {
        error = $4 / $5 - 1
        printf "| %s | %d | %d | %.3f ms | %.3f ms | %+.1f %% |\n", $1, $2, $3, 1e3 * $4, 1e3 * $5, 100 * error
        for (i = NR; i > 1 && sorted[i - 1] > magnitude(error); i--) sorted[i] = sorted[i - 1]
        sorted[i] = magnitude(error)
    }
    END {
        if (NR > 0) {
            median = (sorted[int((NR + 1) / 2)] + sorted[int(NR / 2) + 1]) / 2
            printf "\nMedian of %d: %.1f %%, worst %.1f %%.\n", NR, 100 * median, 100 * sorted[NR]
        }
    }'
