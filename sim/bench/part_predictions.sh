# The effect of SMPI's waiting on the time it predicts, on `abci-v100` where hops differ.

. "$here/smpi.sh"

# predict_engine CLUSTER RANKS ELEMENTS WINDOW: a row of predictions.csv
predict_engine() {
    figures=$(row_of allreduce_s allreduce --cluster "$1" --algorithm ring --gpus "$2" --channels 1 --window "$4" \
        --payload $((2 * $3))B --set gpu.reduce_cost=0s/B --set collective.setup=0s --engine simgrid) || exit 1
    echo "$1,$2,$((2 * $3)),simgrid window $4,${figures%% *},$provenance" >>"$out/predictions.csv"
}

# predict_smpi NAME CLUSTER RANKS ELEMENTS OPTION...: a row of predictions.csv
predict_smpi() {
    row="$2,$3,$((2 * $4)),smpi $1"
    shift 2
    figures=$(smpi "$@") || exit 1
    echo "$row,${figures%% *},$provenance" >>"$out/predictions.csv"
}

if [ -n "$smpirun" ]; then
    say "what SMPI predicts on abci-v100"
    echo "cluster,ranks,payload_bytes,program,simulated_s,date,cpu,simgrid_version,compiler" >"$out/predictions.csv"
    for ranks in 64 256; do
        write_platform "$ranks" abci-v100
        for count in "$elements" $((4096 * 128)); do
            predict_engine abci-v100 "$ranks" "$count" 8
            predict_engine abci-v100 "$ranks" "$count" 1
            predict_smpi lr abci-v100 "$ranks" "$count"
            predict_smpi "lr detached" abci-v100 "$ranks" "$count" --cfg=smpi/send-is-detached-thresh:1000000000
            predict_smpi "lr asynchronous" abci-v100 "$ranks" "$count" \
                --cfg=smpi/send-is-detached-thresh:1000000000 --cfg=smpi/async-small-thresh:1000000000
        done
    done
    echo
    echo "Predicted time of a ring all-reduce on \`abci-v100\`, one channel, without setup and reduction, us:"
    echo
    awk -F, '
        NR == 1 {
            print "| ranks | bytes | simgrid, window 8 | simgrid, window 1 | smpi lr | lr, sends detached | lr, and asynchronous |"
            print "|--:|--:|--:|--:|--:|--:|--:|"
            next
        }
        { row = row sprintf(" %.2f |", 1e6 * $5) }
        NR % 5 == 1 { printf "| %d | %d |%s\n", $2, $3, row; row = "" }' "$out/predictions.csv"
fi
