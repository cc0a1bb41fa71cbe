# Messages per second of `recurrence` on one core, for rings, groups and grids of up to 65,536 ranks.
# `abci-v100` with more nodes and two channels: hops of different cost, shared links, all of it.

rates_runs=$out/rates_runs.csv

# run_rate RANKS ALGORITHM JOBS: repeats until it has run for long enough; a stream is one of steps
run_rate() {
    repetition=1 repeats=1
    while [ "$repetition" -le "$repeats" ]; do
        set -- "$1" "$2" "$3" $(row_of "messages_count wall_s" predict --cluster abci-v100 --set nodes=16384 --gpus "$1" \
            --algorithm "$2" --trace resnet50-v1.5 --bucket one --baseline gpu --channels 2 --iterations "$3" \
            --engine recurrence)
        [ $# -eq 8 ] || exit 1
        [ "$repetition" -gt 1 ] || repeats=$(repeats_for "$6")
        messages=$4
        echo "$1,$2,$3,$repetition,$((messages * $3)),$5,$6,$8" >>"$rates_runs"
        repetition=$((repetition + 1))
        set -- "$1" "$2" "$3"
    done
}

echo "ranks,algorithm,jobs_count,repetition,messages_count,run_wall_s,wall_s,memory_bytes" >"$rates_runs"
for algorithm in ring hierarchical torus2d; do
    for ranks in 1024 4096 16384 65536; do
        say "rate of recurrence, $algorithm, $ranks ranks"
        run_rate "$ranks" "$algorithm" 1
        # A stream of steps with one all-reduce each: what is done once per run counts less.
        jobs=$(awk -v m="$messages" 'BEGIN { print 1 + int(1e9 / m) }')
        [ "$messages" -ge 1000000000 ] || run_rate "$ranks" "$algorithm" "$jobs"
    done
done
medians 3 <"$rates_runs" >"$out/rates.csv"

echo
echo "Messages per second of \`recurrence\` on one core, \`abci-v100\` with 16,384 nodes, two channels:"
echo
awk -F, '
    NR == 1 {
        print "| algorithm | ranks | messages | one all-reduce s | messages/s | in a stream of 1e9 | target | peak MB |"
        print "|---|--:|--:|--:|--:|--:|---|--:|"
        next
    }
    $3 == 1 { order[++rows] = $2 " | " $1; once_s[rows] = $6; messages[rows] = $5; memory[rows] = $8
              target[rows] = $2 == "ring" ? 1e9 : 1e8; stream[rows] = $5 / $6 }
    $3 > 1 { stream[rows] = $5 / $6 }
    END {
        for (i = 1; i <= rows; i++) {
            once = messages[i] / once_s[i]
            verdict = "**missed**"
            if (stream[i] >= target[i]) verdict = "met by streams"
            if (once >= target[i]) verdict = "met"
            printf "| %s | %.0f | %.4f | %.2e | %.2e | %.0e: %s | %.0f |\n", order[i], messages[i], once_s[i], once,
                stream[i], target[i], verdict, memory[i] / 1e6
        }
    }' "$out/rates.csv"
