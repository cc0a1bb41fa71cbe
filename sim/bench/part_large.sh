# Wall time and peak memory of whole programs on 65,536 and 1,048,576 ranks.

large_runs=$out/large_runs.csv

# run_large CLUSTER NODES RANKS ALGORITHM WHAT: rows of large_runs.csv; WHAT is `step` or a payload
run_large() {
    say "$5 on $3 ranks of $1, $4"
    repetition=1 repeats=1
    while [ "$repetition" -le "$repeats" ]; do
        case $5 in
        step) set -- "$1" "$2" "$3" "$4" "$5" predict --trace resnet50-v1.5 ;;
        *) set -- "$1" "$2" "$3" "$4" "$5" allreduce --payload "$5" ;;
        esac
        figures=$(row_of messages_count "$6" --cluster "$1" --set nodes="$2" --gpus "$3" --algorithm "$4" --engine recurrence \
            "$7" "$8") || {
            [ $? -eq 124 ] || exit 1
            say "not done in $limit_s s"
            return 0
        }
        set -- "$1" "$2" "$3" "$4" "$5" $figures
        [ "$repetition" -gt 1 ] || repeats=$(repeats_for "$7")
        echo "$1,$3,$4,$5,$repetition,$6,$7,$8,$9" >>"$large_runs"
        repetition=$((repetition + 1))
    done
}

echo "cluster,ranks,algorithm,what,repetition,messages_count,wall_s,cpu_s,memory_bytes" >"$large_runs"
run_large flat 65536 65536 ring 64MiB
run_large flat 65536 65536 ring 100MB
run_large abci-v100 16384 65536 ring 64MiB
run_large abci-v100 16384 65536 ring 51118064B
run_large flat 65536 65536 ring step
run_large abci-v100 16384 65536 ring step
run_large abci-v100 16384 65536 hierarchical 64MiB
run_large abci-v100 16384 65536 torus2d 64MiB
run_large abci-v100 16384 65536 tree 64MiB
run_large flat 1048576 1048576 ring 64MiB
run_large flat 1048576 1048576 ring 100MB
run_large abci-v100 262144 1048576 ring 64MiB
medians 4 <"$large_runs" >"$out/large.csv"

echo
echo "Whole programs on many ranks; \`step\` is an iteration of ResNet-50:"
echo
awk -F, '
    NR == 1 {
        print "| cluster | ranks | algorithm | what | messages | wall s | processor s | peak MB | target |"
        print "|---|--:|---|---|--:|--:|--:|--:|---|"
        next
    }
    {
        target_s = $2 > 65536 ? 3 : $4 == "step" ? 1 : 0.1
        target = "-"
        if ($3 == "ring") {
            target = target_s " s" ($2 > 65536 ? ", 1 GB" : "") ": " ($8 < target_s && $9 < 1e9 ? "met" : "**missed**")
        }
        printf "| %s | %d | %s | %s | %.0f | %.3f | %.3f | %.0f | %s |\n", $1, $2, $3, $4, $6, $7, $8, $9 / 1e6, target
    }' "$out/large.csv"
