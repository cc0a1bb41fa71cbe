# How processor time and memory grow with the ranks, for operations on kinds of clusters: the slope is that of the last two
# sizes in a plot with logarithmic axes, 1 where twice as many ranks take twice as long.

growth_runs=$out/growth_runs.csv

# grow CLUSTER GPUS_A_NODE COMMAND ALGORITHM: rows of growth_runs.csv up to what takes BENCH_LIMIT_S
grow() {
    for ranks in 1024 4096 16384 65536; do
        say "$3 by $4, $ranks ranks of $1"
        "$here/measure" "$out/figures.tmp" timeout "$limit_s" "$allreckon" "$3" --cluster "$1" --set nodes=$((ranks / $2)) \
            --gpus $ranks --algorithm "$4" --payload 64MiB --engine recurrence --quiet >/dev/null || {
            [ $? -eq 124 ] || exit 1
            return 0
        }
        read -r wall_s cpu_s memory_bytes <"$out/figures.tmp"
        echo "$1,$3,$4,$ranks,1,$wall_s,$cpu_s,$memory_bytes" >>"$growth_runs"
    done
}

echo "cluster,operation,algorithm,ranks,repetition,wall_s,cpu_s,memory_bytes" >"$growth_runs"
for cluster in "flat 1" "dgx-h100 8" "abci-v100 4"; do
    for what in "allreduce ring" "allreduce torus2d" "allreduce hierarchical" "allreduce tree" "allreduce halving-doubling" \
        "reducescatter recursive-halving" "allgather ring" "broadcast tree" "reduce tree" "gather binomial" "scatter linear" \
        "alltoall pairwise" "alltoall linear"; do
        grow $cluster $what
    done
done
medians 4 <"$growth_runs" >"$out/growth.csv"

echo
awk -F, '
    function end_row() {
        if (rows == 0) return
        slope = rows > 1 && before_s > 0 ? sprintf("%.1f", log(last_s / before_s) / log(last_ranks / before_ranks)) : "-"
        printf "| %s | %d | %.3g | %.0f | %s |\n", row, last_ranks, last_s, last_bytes / last_ranks, slope
    }
    NR == 1 {
        print "| cluster, operation, algorithm | ranks | processor s | bytes a rank | slope |"
        print "|---|--:|--:|--:|--:|"
        next
    }
    {
        if ($1 ", " $2 ", " $3 != row) { end_row(); rows = 0 }
        row = $1 ", " $2 ", " $3
        before_s = last_s; before_ranks = last_ranks
        last_s = $7; last_ranks = $4; last_bytes = $8; rows++
    }
    END { end_row() }' "$out/growth.csv"
