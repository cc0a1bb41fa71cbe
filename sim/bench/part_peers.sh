# One ring all-reduce on the cluster `flat` by the engines, by a bare SimGrid program and by SimGrid's
# SMPI: same platform, same SimGrid options, same payload.

. "$here/smpi.sh"
port_Bps=10000000000 # of `flat`, which is told so
envelope_bytes=16    # that SMPI adds to every message
peers_runs=$out/peers_runs.csv

# peer PROGRAM RANKS: figures of one run
peer() {
    case $1 in
    recurrence | simgrid)
        row_of "allreduce_s messages_count" allreduce --cluster flat --algorithm ring --gpus "$2" --channels 1 \
            --payload "${payload_bytes}B" --set hca.bandwidth=10GB/s --engine "$1"
        ;;
    bare) figures_of "$programs/bare_ring" "$out/platform.xml.tmp" "$2" "$elements" ;;
    smpi) smpi "$2" "$elements" ;;
    esac
}

# run_peer PROGRAM RANKS REPETITION: a row of peers_runs.csv, and wall_s; a run over the limit has no
# figures but the wall time
run_peer() {
    rc=0
    figures=$(peer "$1" "$2") || rc=$?
    if [ "$rc" -eq 124 ]; then
        say "$1, $2 ranks: more than $limit_s s"
        echo "$2,$1,$3,,,,$limit_s," >>"$peers_runs"
        wall_s=$limit_s
        return
    fi
    [ "$rc" -eq 0 ] || exit 1
    # The peers' own processor time and memory, which leave out SimGrid's clean-up; the last but two: the
    # wall time of all of it, start to exit.
    row=$(echo "$figures" | awk -v row="$2,$1,$3" '{
        cpu_s = NF > 5 ? $3 : $4
        memory_bytes = NF > 5 ? $4 : $5
        printf "%s,%s,%s,%s,%s,%s\n", row, $1, $2, cpu_s, $(NF - 2), memory_bytes }')
    echo "$row" >>"$peers_runs"
    wall_s=$(echo "$row" | cut -d, -f7)
}

# runs_at PROGRAM RANKS: whether the program can run so many
runs_at() {
    case $1 in
    smpi) [ -n "$smpirun" ] && [ "$2" -le 4096 ] ;;
    recurrence) true ;;
    *) [ "$2" -le 4096 ] ;;
    esac
}

# In turn, so that all programs see the same hours of the machine.
run_all_peers() {
    for repetition in 1 2 3 4 5; do
        for program in recurrence simgrid bare smpi; do
            runs_at "$program" "$1" || continue
            [ "$repetition" -gt 1 ] || eval "repeats_$program=5"
            eval "repeats=\$repeats_$program"
            [ "$repetition" -le "$repeats" ] || continue
            say "$program, $1 ranks, repetition $repetition"
            run_peer "$program" "$1" "$repetition"
            [ "$repetition" -gt 1 ] || eval "repeats_$program=$(repeats_for "$wall_s")"
        done
    done
}

# The engines agree, SMPI after its envelopes; the engine simgrid costs little beside bare SimGrid.
judge_peers() {
    awk -F, -v port_Bps="$port_Bps" -v envelope_bytes="$envelope_bytes" '
        NR == 1 || $4 == "" { next }
        { simulated[$1, $2] = $4; messages[$1, $2] = $5; cpu[$1, $2] = $6; memory[$1, $2] = $8; ranks[$1] }
        function check(n, program, expected,    difference) {
            if (!((n, program) in simulated) || !((n, "recurrence") in simulated)) return
            difference = simulated[n, program] / expected - 1
            if (difference > 2e-9 || difference < -2e-9 || messages[n, program] != messages[n, "recurrence"]) {
                printf "bench: %d ranks: %s: %.17g s, %.0f messages; expected %.17g s, %.0f messages\n", n, program,
                    simulated[n, program], messages[n, program], expected, messages[n, "recurrence"]
                is_bad = 1
            }
        }
        END {
            for (n in ranks) {
                check(n, "simgrid", simulated[n, "recurrence"])
                check(n, "bare", simulated[n, "recurrence"])
                check(n, "smpi", simulated[n, "recurrence"] + 2 * (n - 1) * envelope_bytes / port_Bps)
                if (n == 192 && ((n, "bare") in cpu) &&
                    (cpu[n, "bare"] / cpu[n, "simgrid"] < 0.8 || memory[n, "simgrid"] / memory[n, "bare"] > 1.5)) {
                    printf "bench: %d ranks: speed of simgrid over bare %.2f, expected >= 0.8; memory %.2f, expected <= 1.5\n",
                        n, cpu[n, "bare"] / cpu[n, "simgrid"], memory[n, "simgrid"] / memory[n, "bare"]
                    is_bad = 1
                }
            }
            exit is_bad
        }' "$out/peers.csv" >&2
}

print_peers() {
    echo
    echo "One ring all-reduce of $payload_bytes bytes on \`flat\`, one channel:"
    echo
    awk -F, '
        NR == 1 {
            print "| ranks | messages | program | wall s | processor s | messages/s | of bare | peak MB | of bare | predicted s |"
            print "|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"
            next
        }
        {
            ranks[++rows] = $1; program[rows] = $2
            simulated[rows] = $4; messages[rows] = $5; cpu[rows] = $6; wall[rows] = $7; memory[rows] = $8
            if ($2 == "bare" && $4 != "") { bare_cpu[$1] = $6; bare_memory[$1] = $8 }
        }
        END {
            for (i = 1; i <= rows; i++) {
                n = ranks[i]
                if (simulated[i] == "") {
                    printf "| %d | %.0f | %s | > %d | | | | | | |\n", n, 2 * n * (n - 1), program[i], wall[i]
                    continue
                }
                speed = size = ""
                if (n in bare_cpu) {
                    speed = sprintf(bare_cpu[n] / cpu[i] < 10 ? "%.2f" : "%.0f", bare_cpu[n] / cpu[i])
                    size = sprintf("%.2f", memory[i] / bare_memory[n])
                }
                printf "| %d | %.0f | %s | %.3f | %.3f | %.3g | %s | %.1f | %s | %.9f |\n", n, messages[i], program[i],
                    wall[i], cpu[i], messages[i] / cpu[i], speed, memory[i] / 1e6, size, simulated[i]
            }
        }' "$out/peers.csv"
}

peers_ranks=${BENCH_RANKS:-64 192 1024}
if [ -z "${BENCH_RANKS:-}" ] && [ -n "$is_long" ]; then
    peers_ranks="64 128 256 512 1024 2048 4096 16384 65536"
fi
echo "ranks,program,repetition,simulated_s,messages_count,cpu_s,wall_s,memory_bytes" >"$peers_runs"
for ranks in $peers_ranks; do
    write_platform "$ranks" flat --set hca.bandwidth=10GB/s
    run_all_peers "$ranks"
done
medians 2 <"$peers_runs" >"$out/peers.csv"
print_peers
judge_peers || failed=1
