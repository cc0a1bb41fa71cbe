# The same digits with and without -march=native: builds the program a second time and compares rows.

native=$out/../native

# rows_of PROGRAM: rows without the time the engine took
rows_of() {
    for ranks in 7 64 96 1024; do
        for algorithm in ring hierarchical torus2d; do
            if [ "$ranks" -eq 7 ] && [ "$algorithm" != ring ]; then
                continue
            fi
            "$1" allreduce --cluster abci-v100 --gpus "$ranks" --algorithm "$algorithm" \
                --payload 4KiB:64MiB:x4 --engine recurrence --format csv --quiet
        done
    done
    "$1" predict --cluster abci-v100 --gpus 512 --algorithm torus2d --trace resnet50-v1.5 --jitter 0.03 \
        --iterations 5 --engine recurrence --format csv --quiet
}

without_wall() {
    awk -F, -v OFS=, '
        $1 == "cluster" { for (i = 1; i <= NF; i++) if ($i == "wall_s") column = i }
        { $column = ""; print }'
}

say "building the program with -march=native"
if cmake -S "$top" -B "$native" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DALLRECKON_CUDA=OFF \
    -DCMAKE_C_COMPILER="${BENCH_CC:-cc}" -DCMAKE_C_FLAGS=-march=native >"$out/native.log.tmp" 2>&1 &&
    cmake --build "$native" --target allreckon -j 2 >>"$out/native.log.tmp" 2>&1; then
    rows_of "$allreckon" | without_wall >"$out/portable.tmp"
    rows_of "$native/allreckon" | without_wall >"$out/native.tmp"
    rows_count=$(grep -vc '^cluster,' "$out/portable.tmp" || true)
    echo
    if [ "$rows_count" -gt 50 ] && cmp -s "$out/portable.tmp" "$out/native.tmp"; then
        echo "$rows_count rows of \`recurrence\` are the same, byte for byte, from builds with and without \`-march=native\`."
    else
        echo "Rows of \`recurrence\` differ between builds with and without \`-march=native\` ($rows_count rows)."
        diff "$out/portable.tmp" "$out/native.tmp" | head -n 4 >&2 || true
        failed=1
    fi
else
    tail -n 5 "$out/native.log.tmp" >&2
    say "no build with -march=native; its rows were not compared"
    failed=1
fi
