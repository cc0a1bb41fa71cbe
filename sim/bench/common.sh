# Shared by the parts of bench.sh; sourced, never run.

elements=25559040 # ResNet-50's 25,557,032 gradients rounded up, so that 4096 ranks get equal parts
payload_bytes=$((2 * elements))
allreckon=${BENCH_PROGRAM:-$programs/../../allreckon}

say() {
    echo "bench: $*" >&2
}

# figures_of COMMAND...: what the command printed, then wall_s cpu_s memory_bytes of all of it, on one
# line; 1 if it failed, 124 if it took more than BENCH_LIMIT_S.
figures_of() {
    rc=0
    printed=$("$here/measure" "$out/figures.tmp" timeout "$limit_s" "$@") || rc=$?
    if [ "$rc" -ne 0 ]; then
        [ "$rc" -eq 124 ] || say "'$*' ended with code $rc"
        return "$rc"
    fi
    echo "$printed $(cat "$out/figures.tmp")"
}

# row_of "COLUMN ..." COMMAND...: columns of the row that the program prints of it in fp16, then wall_s cpu_s memory_bytes
row_of() {
    wanted=$1
    shift
    row=$(figures_of "$allreckon" "$@" --precision fp16 --format csv --quiet) || return
    echo "$row" | awk -F, -v wanted="$wanted" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            sub(/^[^ ]* /, "", $NF)
            count = split(wanted, names, " ")
            for (i = 1; i <= count; i++) printf "%s ", $column[names[i]]
            print $NF
        }'
}

# repeats_for SECONDS: many repetitions of what is quick, one of what is slow
repeats_for() {
    echo "${BENCH_REPEATS:-$(awk -v s="$1" 'BEGIN { print s < 2 ? 5 : s < 15 ? 3 : 1 }')}"
}

# medians KEYS: from runs with a header, whose first KEYS columns say what was run and whose next one
# numbers the repetitions, to one row for each, with medians, in the order of their first runs.
medians() {
    awk -F, -v keys="$1" -v provenance="$provenance" '
        function median(key, column,    i, j, x, sorted, count) {
            count = repetitions[key]
            for (i = 1; i <= count; i++) {
                x = value[key, column, i]
                for (j = i - 1; j > 0 && sorted[j] + 0 > x + 0; j--) sorted[j + 1] = sorted[j]
                sorted[j + 1] = x
            }
            if (count % 2) return sorted[(count + 1) / 2]
            return sprintf("%.17g", (sorted[count / 2] + sorted[count / 2 + 1]) / 2)
        }
        NR == 1 {
            columns = NF
            sub(/,repetition,/, ",repetitions_count,")
            print $0 ",date,cpu,simgrid_version,compiler"
            next
        }
        {
            key = $1
            for (i = 2; i <= keys; i++) key = key "," $i
            if (!(key in repetitions)) order[++rows] = key
            repetitions[key]++
            for (i = keys + 2; i <= columns; i++) value[key, i, repetitions[key]] = $i
        }
        END {
            for (row = 1; row <= rows; row++) {
                line = order[row] "," repetitions[order[row]]
                for (i = keys + 2; i <= columns; i++) line = line "," median(order[row], i)
                print line "," provenance
            }
        }'
}
