# Runs the SMPI program; sourced by the parts that need it.

# Those of engine simgrid, which adds the latency itself: SMPI leaves it to SimGrid.
simgrid_options=$(row_of engine_options allreduce --cluster flat --algorithm ring --gpus 2 --payload 4KiB --engine simgrid |
    awk '{ for (i = 3; i <= NF - 3; i++) if ($i !~ /latency-factor/) printf "--cfg=%s ", $i }')
smpi_options="$simgrid_options --cfg=smpi/allreduce:lr --cfg=smpi/simulate-computation:no \
--cfg=smpi/wtime:0 --cfg=smpi/shared-malloc:global --log=root.thresh:critical"
smpirun=${BENCH_SMPIRUN:-}
if [ -z "$smpirun" ] || [ ! -x "$programs/smpi_ring" ]; then
    say "no smpicc or smpirun (SimGrid's SMPI): the peer smpi is left out"
    smpirun=
fi

# write_platform RANKS CLUSTER OPTION...: the platform, and its hosts as smpirun wants them
write_platform() {
    platform_ranks=$1 platform_cluster=$2
    shift 2
    rm -f "$out/platform.xml.tmp"
    "$allreckon" export --format simgrid-xml --cluster "$platform_cluster" --gpus "$platform_ranks" --quiet "$@" \
        --out "$out/platform.xml.tmp"
    awk -v ranks="$platform_ranks" 'BEGIN { for (i = 0; i < ranks; i++) print "gpu-" i }' >"$out/hosts.tmp"
}

# smpi RANKS ELEMENTS OPTION...: figures of the SMPI program
smpi() {
    smpi_ranks=$1 smpi_floats=$(($2 / 2))
    shift 2
    # shellcheck disable=SC2086 # the options are words
    figures_of "$smpirun" -no-privatize -np "$smpi_ranks" -platform "$out/platform.xml.tmp" \
        -hostfile "$out/hosts.tmp" $smpi_options "$@" "$programs/smpi_ring" "$smpi_floats"
}
