#!/bin/sh
# Compares the `simgrid` engine with a bare SimGrid program; see README.md.
# usage: bench.sh PROGRAMS_DIR CLUSTER.topo OUT_DIR
#   BENCH_RANKS     rank counts                    "64 128 256 512 1024"
#   BENCH_REPEATS   repetitions of each            5 up to 512 ranks, 3 up to 1024, else 1
#   BENCH_LIMIT_S   limit for one run, seconds     600
#   BENCH_SIMGRID, BENCH_COMPILER                  provenance, set by CMake
set -eu

if [ $# -ne 3 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
programs=$1 cluster=$2 out=$3
here=$(dirname "$0")
ranks_list=${BENCH_RANKS:-64 128 256 512 1024}
limit=
if command -v timeout >/dev/null; then
    limit="timeout ${BENCH_LIMIT_S:-600}"
fi
elements=25557032 # parameters of ResNet-50; 51,114,064 bytes at two bytes each

mkdir -p "$out"
runs=$out/runs.csv table=$out/speed.csv platform=$out/platform.xml
trap 'rm -f "$platform"' EXIT
trap 'exit 130' INT TERM

cpu_model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
provenance=$(printf "%s,%s,%s,%s" "$(date -u +%Y-%m-%dT%H:%MZ)" "$(echo "${cpu_model:-$(uname -m)}" | tr , " ")" \
    "${BENCH_SIMGRID:-unknown}" "$(echo "${BENCH_COMPILER:-unknown}" | tr , " ")")

repeats_of() {
    if [ -n "${BENCH_REPEATS:-}" ]; then
        echo "$BENCH_REPEATS"
    elif [ "$1" -le 512 ]; then
        echo 5
    elif [ "$1" -le 1024 ]; then
        echo 3
    else
        echo 1
    fi
}

# run_once RANKS PROGRAM REPETITION COMMAND...: one more row of runs.csv
run_once() {
    row=$1,$2,$3
    shift 3
    figures=$($limit "$@") || {
        echo "bench: '$*' failed or took more than ${BENCH_LIMIT_S:-600} s" >&2
        exit 1
    }
    echo "$row,$(echo "$figures" | tr ' ' ',')" >>"$runs"
}

# The rows of runs.csv as one row for each rank count: best and median of the processor times, and
# whether both programs simulated the same thing.
summarise() {
    sort -t, -k1,1n -k2,2 -k6,6n "$1" | awk -F, -v provenance="$2" '
        function finish_group() {
            if (count == 0) return
            best[program] = cpu[1]
            median[program] = count % 2 ? cpu[(count + 1) / 2] : (cpu[count / 2] + cpu[count / 2 + 1]) / 2
            repeats = count
            count = 0
        }
        function finish_ranks() {
            finish_group()
            if (ranks == "" || !("bare" in best) || !("engine" in best)) return
            printf "%d,%d,%d,%.17g,%.3f,%.3f,%.0f,%.0f,%.3f,%.3f,%d,%d,%.3f,%s\n", ranks,
                messages["bare"], repeats, simulated["bare"], best["bare"], best["engine"],
                messages["bare"] / best["bare"], messages["engine"] / best["engine"],
                best["bare"] / best["engine"], median["bare"] / median["engine"],
                memory["bare"], memory["engine"], memory["engine"] / memory["bare"], provenance
            difference = simulated["engine"] / simulated["bare"] - 1
            if (difference > 1e-9 || difference < -1e-9 || messages["bare"] != messages["engine"]) {
                printf "bench: %d ranks: bare %.17g s, %d messages; engine %.17g s, %d messages\n", ranks,
                    simulated["bare"], messages["bare"], simulated["engine"], messages["engine"] >"/dev/stderr"
                is_bad = 1
            }
        }
        $1 == "ranks" { next }
        $1 != ranks { finish_ranks(); ranks = $1; program = "" ; split("", best) }
        $2 != program { finish_group(); program = $2 }
        { cpu[++count] = $6; simulated[program] = $4; messages[program] = $5
          if (count == 1 || $8 > memory[program]) memory[program] = $8 }
        END { finish_ranks(); exit is_bad }'
}

echo "ranks,program,repetition,simulated_s,messages_count,cpu_s,wall_s,memory_bytes" >"$runs"
for ranks in $ranks_list; do
    "$programs/bench_engine" "$cluster" ring "$ranks" 1 "$elements" "$platform"
    repeats=$(repeats_of "$ranks")
    repetition=1
    while [ "$repetition" -le "$repeats" ]; do
        echo "bench: $ranks ranks, repetition $repetition of $repeats" >&2
        run_once "$ranks" bare "$repetition" "$programs/bare_ring" "$platform" "$ranks" "$elements"
        run_once "$ranks" engine "$repetition" "$programs/bench_engine" "$cluster" ring "$ranks" 1 "$elements"
        repetition=$((repetition + 1))
    done
done

echo "ranks,messages_count,repetitions_count,simulated_s,bare_cpu_s,engine_cpu_s,bare_messages_per_s,\
engine_messages_per_s,speed_ratio_frac,median_speed_ratio_frac,bare_memory_bytes,engine_memory_bytes,\
memory_ratio_frac,date,cpu,simgrid_version,compiler" >"$table"
summarise "$runs" "$provenance" >>"$table"

# The table for people, and whether the engine keeps its promises.
awk -F, '
    NR == 1 {
        printf "%6s %10s %13s %13s %7s %9s %9s %9s %7s\n", "ranks", "messages", "bare msg/s",
            "engine msg/s", "ratio", "(median)", "bare MB", "engine MB", "ratio"
        next
    }
    {
        printf "%6d %10d %13d %13d %7.2f %9.2f %9.1f %9.1f %7.2f\n", $1, $2, $7, $8, $9, $10,
            $11 / 1e6, $12 / 1e6, $13
        if (($1 == 256 || $1 == 1024) && ($9 < 0.8 || $13 > 1.5)) {
            printf "bench: %d ranks: speed ratio %.2f, expected >= 0.8; memory ratio %.2f, expected <= 1.5\n",
                $1, $9, $13 >"/dev/stderr"
            is_bad = 1
        }
    }
    END { exit is_bad }' "$table" || failed=1

if command -v gnuplot >/dev/null; then
    gnuplot -e "data='$table'; out='$out/growth'" "$here/growth.gp"
fi
echo "bench: $table, $runs" >&2
exit "${failed:-0}"
