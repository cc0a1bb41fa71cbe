# A step of a workload over time: a row for each stage of the pipeline, its tasks as bars; below them what other streams send.

heading = 'Stages of a pipeline'
note = 'thin bars: gradients and parameters, beside the others'
stats data using (1e3 * column('end_s')) name 'end' nooutput
stats data using (column('stage')) name 'stage' nooutput
stages = int(stage_max) + 1
picture_height = 190 + (stages < 12 ? 34 : stages < 40 ? 20 : 12) * (stages < 5 ? 5 : stages)

array kind_name[8] = ['forward', 'backward', 'optimizer', 'sent along tp', 'along cp', 'along ep', 'along pp', 'along dp']
shown = ''
is_of(kind) = strcol('kind') eq kind ? 1 : 0
do for [k = 1:8] {
    stats data using (is_of(word(part_names, k))) name 'one' nooutput
    if (one_max > 0) { shown = shown.' '.k }
}
is_beside(stream) = strcol('stream') eq 'gradients' ? 1 : 0
top(z) = column('stage') + (is_beside(0) ? 0.36 : -0.38)
bottom(z) = column('stage') + (is_beside(0) ? 0.46 : 0.32)
from(kind) = is_of(kind) ? 1e3 * column('begin_s') : NaN

set xlabel 'time (ms)'
set ylabel 'stage'
set xrange [0:end_max]
set yrange [stages - 0.4:-0.6]
set ytics 0, (stages > 20 ? 8 : 1), stages - 1
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set style fill solid 1.0 noborder

eval begin
plot for [k in shown] data using (from(word(part_names, int(k)))):(column('stage')):(1e3 * column('begin_s')):(1e3 * column('end_s')):\
        (top(0)):(bottom(0)) with boxxyerror lc rgb word(part_colours, int(k)) title kind_name[int(k)]
eval finish
