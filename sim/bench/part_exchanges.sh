# Time of engine recurrence for collectives whose peers change from step to step: the whole program.

exchanges_runs=$out/exchanges_runs.csv

# exchange NAME COMMAND ALGORITHM RANKS OPTION...: runs of a collective on `flat` with a fabric
exchange() {
    name=$1 command=$2 algorithm=$3 ranks=$4
    shift 4
    for repetition in 1 2 3; do
        say "$command $algorithm, $ranks ranks, $name, repetition $repetition"
        figures=$(row_of "allreduce_s messages_count" "$command" --cluster flat --algorithm "$algorithm" --gpus "$ranks" \
            --channels 1 --payload 64MiB --engine recurrence "$@") || exit 1
        echo "$command,$algorithm,$ranks,$name,$repetition,$(echo "$figures" | tr ' ' ',')" >>"$exchanges_runs"
    done
}

racks="--set rack.uplinks=8 --set rack.uplink_bandwidth=10GB/s"
echo "operation,algorithm,ranks,fabric,repetition,simulated_s,messages_count,wall_s,cpu_s,memory_bytes" >"$exchanges_runs"
exchange "one switch" alltoall pairwise 4096
exchange "racks of 32" alltoall pairwise 4096 --set rack.nodes=32 $racks
exchange "racks of 34" alltoall pairwise 4096 --set rack.nodes=34 $racks
exchange "one switch" alltoall linear 4096
exchange "one switch" allreduce recursive-doubling 65536
exchange "one switch" allreduce halving-doubling 65536
exchange "one switch" allreduce swing 65536
exchange "one switch" allreduce ring 65536
exchange "one switch" allgather ring 65536
exchange "one switch" allgather neighbour 65536
medians 4 <"$exchanges_runs" >"$out/exchanges.csv"
echo
echo "One collective of 64 MiB on \`flat\`, one channel, the whole program:"
echo
awk -F, '
    NR == 1 {
        print "| operation | algorithm | ranks | fabric | messages | wall s | processor s | ns a message | peak MB |"
        print "|---|---|--:|---|--:|--:|--:|--:|--:|"
        next
    }
    { printf "| %s | %s | %d | %s | %.0f | %.3f | %.3f | %.3g | %.0f |\n", $1, $2, $3, $4, $7, $8, $9, 1e9 * $9 / $7, $10 / 1e6 }
' "$out/exchanges.csv"
