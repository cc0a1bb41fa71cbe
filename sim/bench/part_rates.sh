# Messages per second of `recurrence` on one core where all ranks differ, so that each is walked: training steps with
# jitter and one all-reduce each, on `abci-v100` with more nodes and two channels.

rates_runs=$out/rates_runs.csv

# run_rate RANKS ALGORITHM STEPS REPETITION: a row of rates_runs.csv; sets messages, of a step, and run_s
run_rate() {
    set -- "$@" $(row_of "messages_count wall_s" predict --cluster abci-v100 --set nodes=16384 --gpus "$1" \
        --algorithm "$2" --trace resnet50-v1.5 --bucket one --baseline gpu --channels 2 --jitter 0.02 --iterations "$3" \
        --engine recurrence)
    [ $# -eq 9 ] || exit 1
    messages=$5 run_s=$6
    [ "$4" -eq 0 ] || echo "$1,$2,$3,$4,$((messages * $3)),$6,$7,$9" >>"$rates_runs"
}

echo "ranks,algorithm,steps_count,repetition,messages_count,run_wall_s,wall_s,memory_bytes" >"$rates_runs"
for algorithm in ring torus2d hierarchical halving-doubling swing recursive-doubling tree; do
    for ranks in 1024 4096 16384 65536; do
        say "rate of recurrence, $algorithm, $ranks ranks"
        run_rate "$ranks" "$algorithm" 2 0
        steps=$(awk -v m="$messages" 'BEGIN { print 2 + int(4e9 / m) }') # what is done once per run counts little
        [ "$steps" -lt 1000 ] || steps=1000
        repetition=1 repeats=1
        while [ "$repetition" -le "$repeats" ]; do
            run_rate "$ranks" "$algorithm" "$steps" "$repetition"
            [ "$repetition" -gt 1 ] || repeats=$(repeats_for "$run_s")
            repetition=$((repetition + 1))
        done
    done
done
medians 3 <"$rates_runs" >"$out/rates.csv"

echo
echo "Messages per second of \`recurrence\` on one core, \`abci-v100\` with 16,384 nodes, two channels, jitter 2 %:"
echo
awk -F, '
    NR == 1 {
        print "| algorithm | ranks | messages | steps | a step s | messages/s | peak MB |"
        print "|---|--:|--:|--:|--:|--:|--:|"
        next
    }
    { printf "| %s | %d | %.0f | %d | %.4f | %.2e | %.0f |\n", $2, $1, $5, $3, $6 / $3, $5 / $6, $8 / 1e6 }' "$out/rates.csv"
