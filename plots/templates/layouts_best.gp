# Where the time of the fastest layouts goes: a bar for each number of GPUs, or, with one number, for each of the fastest.

stats data using (column('gpus')) name 'gpus' nooutput
is_one = gpus_min == gpus_max
heading = is_one ? sprintf('The fastest layouts of %s GPUs', grouped(sprintf('%d', gpus_min))) : 'The fastest layout of each number of GPUs'
note = 'parts of a step, mean over the stages'.(is_one ? ', options that are not named at their best' : '')
rows_count = int(gpus_records)
picture_height = 170 + 44 * (rows_count < 3 ? 3 : rows_count)

parts = 'forward_s backward_s optimizer_s exposed_tp_s exposed_cp_s exposed_ep_s exposed_pp_s exposed_dp_s bubble_s'
fills = part_colours.' #F4F4F4'
array part_name[9] = ['forward', 'backward', 'optimizer', 'exposed: tp', 'exposed: cp', 'exposed: ep', 'exposed: pp', 'exposed: dp', 'waiting']
# A cell has `;` where the mesh has `,`.
blank(mesh) = changed(mesh, ';', ' ')
shown = ''
do for [k = 1:9] {
    stats data using (number(word(parts, k), 0)) name 'one' nooutput
    if (one_max > 0) { shown = shown.' '.k }
}
until(k) = k < 1 ? 0 : sum [i = 1:k] number(word(parts, i), 0)
share(k) = 100.0 * until(k) / until(9)
tokens(n) = n >= 1e6 ? sprintf('%.3g M', n / 1e6) : n >= 1e3 ? sprintf('%.3g k', n / 1e3) : sprintf('%.3g', n)
part_of(before, text) = text eq '' ? '' : before.text
said(z) = (is_one ? '' : grouped(strcol('gpus')).' GPUs: ').substr(part_of(', ', blank(strcol('mesh'))).part_of(', micro-batch ', strcol('micro_batch')).\
    part_of(', ', strcol('strategy')).part_of(', ', strcol('schedule') eq '1f1b' ? '' : strcol('schedule')).\
    part_of(', recompute ', strcol('recompute') eq 'none' ? '' : strcol('recompute')), 3, -1).\
    sprintf(': %.4g s', column('iteration_s')).(strcol('tokens_per_s') eq '' ? '' : ', '.tokens(column('tokens_per_s')).' tokens/s')

set xlabel 'part of a step (%)'
set xrange [0:100]
set yrange [rows_count - 0.35:-0.75]
unset ytics
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set style fill solid 1.0 border lc rgb '#8A8A8A'

points = values(0, '50', 'column(0)')
eval begin
plot for [k in shown] data using (share(int(k))):0:(share(int(k) - 1)):(share(int(k))):($0 - 0.12):($0 + 0.3) \
        with boxxyerror lc rgb word(fills, int(k)) title part_name[int(k)], \
    data using (0):($0 - 0.3):(said(0)) with labels left offset character 0.6, 0 font ',11' notitle @points
eval finish
