# Runs the SMPI program; sourced by the parts that need it.

smpi_options="$("$programs/bench_engine" -o) --cfg=smpi/allreduce:lr --cfg=smpi/simulate-computation:no \
--cfg=smpi/wtime:0 --cfg=smpi/shared-malloc:global --log=root.thresh:critical"
smpirun=${BENCH_SMPIRUN:-}
if [ -z "$smpirun" ] || [ ! -x "$programs/smpi_ring" ]; then
    say "no smpicc or smpirun (SimGrid's SMPI): the peer smpi is left out"
    smpirun=
fi

# write_platform RANKS CLUSTER OPTION...: the platform, and its hosts as smpirun wants them
write_platform() {
    platform_ranks=$1 platform_cluster=$top/topologies/machines/$2.topo
    shift 2
    "$programs/bench_engine" "$@" -p "$out/platform.xml.tmp" "$platform_cluster" ring "$platform_ranks" 1 "$elements"
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
