# Processor time and peak memory of commands that users wait for, beside a limit for each.

cases_runs=$out/cases_runs.csv
many="--payload 64MiB --engine recurrence --quiet"
h100="--cluster dgx-h100 --set nodes=131072 --gpus 1048576 $many"

# run_case NAME LIMIT_S COMMAND...: rows of cases_runs.csv; nothing where it takes more than BENCH_LIMIT_S
run_case() {
    name=$1 wanted_s=$2
    shift 2
    repetition=1 repeats=1
    say "$name"
    while [ "$repetition" -le "$repeats" ]; do
        "$here/measure" "$out/figures.tmp" timeout "$limit_s" "$allreckon" "$@" >/dev/null || {
            [ $? -eq 124 ] || exit 1
            say "not done in $limit_s s"
            return 0
        }
        read -r wall_s cpu_s memory_bytes <"$out/figures.tmp"
        [ "$repetition" -gt 1 ] || repeats=$(repeats_for "$wall_s")
        echo "$name,$wanted_s,$repetition,$wall_s,$cpu_s,$memory_bytes" >>"$cases_runs"
        repetition=$((repetition + 1))
    done
}

echo "case,limit_s,repetition,wall_s,cpu_s,memory_bytes" >"$cases_runs"
gpt="--cluster dgx-a100 --workload gpt3-175b --global-batch 1536 --quiet"
large="--cluster dgx-a100 --workload megatron-1t --recompute full --quiet"
run_case "all layouts of GPT-3 175B on 1024 GPUs" 5 sweep $gpt --gpus 1024 --mesh all --best
run_case "the same by micro-batch and overlap; too" 5 sweep $gpt --gpus 1024 --mesh all --best --micro-batch 1,2,4 \
    --strategy data,zero1,zero3 --overlap yes,no
run_case "a step of GPT-3 175B; pp=32 and 768 micro-batches" 0.02 predict $gpt --mesh pp=32,dp=2,tp=16
run_case "a step of 1 T parameters on 3072 GPUs" 0.02 predict $large --mesh pp=64,dp=6,tp=8 --global-batch 3072
run_case "the same on 65536 GPUs" 0.05 predict $large --set nodes=8192 --mesh pp=64,dp=128,tp=8 --global-batch 65536
run_case "zero3 with a framework on 512 GPUs" 0.5 predict --cluster dgx-h100 --workload llama3-70b --mesh dp=64,tp=8 \
    --strategy zero3 --global-batch 1024 --framework typical --quiet
for algorithm in pairwise linear; do
    for ranks in 65536 1048576; do
        run_case "$algorithm; flat $ranks" 0.1 alltoall --cluster flat --set nodes=$ranks --gpus $ranks --algorithm $algorithm $many
    done
    run_case "$algorithm; dgx-h100 65536" 0.2 alltoall --cluster dgx-h100 --set nodes=8192 --gpus 65536 --algorithm $algorithm $many
done
run_case "tree; dgx-h100 65536" 0.2 allreduce --cluster dgx-h100 --set nodes=8192 --gpus 65536 --algorithm tree $many
for algorithm in ring torus2d tree halving-doubling hierarchical; do
    run_case "$algorithm; dgx-h100 1048576" 0.3 allreduce $h100 --algorithm $algorithm
done
run_case "list" 0.0015 list
medians 2 <"$cases_runs" >"$out/cases.csv"

echo
awk -F, '
    NR == 1 {
        print "| case | processor s | peak MB | goal s |"
        print "|---|--:|--:|--:|"
        next
    }
    { printf "| %s | %.3g | %.0f | %s |\n", $1, $5, $6 / 1e6, $2 }' "$out/cases.csv"
