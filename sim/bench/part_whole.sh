# Wall time and peak memory of whole programs: one training step at 4096 GPUs, and the README's sweep.

whole_runs=$out/whole_runs.csv

# run_whole KEY COMMAND...: rows of whole_runs.csv
run_whole() {
    key=$1
    shift
    repetition=1 repeats=1
    while [ "$repetition" -le "$repeats" ]; do
        rc=0
        "$here/measure" "$out/figures.tmp" timeout "$limit_s" "$@" >"$out/rows.tmp" || rc=$?
        if [ "$rc" -ne 0 ]; then
            say "'$*' ended with code $rc"
            exit 1
        fi
        messages=$(awk -F, '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "messages_count") column = i; next }
            { sum += $column }
            END { printf "%.0f,%d", sum, NR - 1 }' "$out/rows.tmp")
        read -r wall_s cpu_s memory_bytes <"$out/figures.tmp"
        [ "$repetition" -gt 1 ] || repeats=$(repeats_for "$wall_s")
        echo "$key,$repetition,$messages,$wall_s,$cpu_s,$memory_bytes" >>"$whole_runs"
        repetition=$((repetition + 1))
    done
}

echo "command,algorithm,bucket,repetition,messages_count,rows_count,wall_s,cpu_s,memory_bytes" >"$whole_runs"
for bucket in ddp tensor; do
    for algorithm in ring hierarchical torus2d; do
        say "one step at 4096 GPUs, $algorithm, buckets $bucket"
        run_whole "predict,$algorithm,$bucket" "$allreckon" predict --cluster abci-v100 --gpus 4096 \
            --algorithm "$algorithm" --trace resnet50-v1.5 --bucket "$bucket" --engine recurrence \
            --format csv --quiet
    done
done
say "the README's sweep"
run_whole "sweep,all,ddp" "$allreckon" sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 4:4096:x2 \
    --payload 4KiB:1GiB:x4 --engine recurrence --jobs 2 --format csv --quiet --out "$out/sweep-out"
medians 3 <"$whole_runs" >"$out/whole.csv"

echo
echo "One iteration of ResNet-50 at 4096 GPUs (\`allreckon predict\`), and the README's sweep:"
echo
awk -F, '
    NR == 1 {
        print "| program | algorithm | buckets | messages | rows | wall s | processor s | peak MB | target |"
        print "|---|---|---|--:|--:|--:|--:|--:|---|"
        next
    }
    {
        target = "-"
        if ($1 == "sweep") target = "10 s: " ($7 < 10 ? "met" : "**missed**")
        if ($1 == "predict" && $2 == "ring" && $3 == "ddp") {
            target = "1 s, 200 MB: " ($7 < 1 && $9 < 200e6 ? "met" : "**missed**")
        }
        printf "| %s | %s | %s | %.0f | %d | %.3f | %.3f | %.0f | %s |\n", $1, $2, $3, $5, $6, $7, $8, $9 / 1e6, target
    }' "$out/whole.csv"
