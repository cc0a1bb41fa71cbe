# Layouts of a workload: time of a step against memory of the fullest GPU.
# Rows come the fastest first, so one that takes less memory than all before it is on the border: no layout is faster and smaller.

heading = 'Layouts: time of a step and memory'
# A cell has `;` where the mesh has `,`.
blank(mesh) = changed(mesh, ';', ' ')
size_of(mesh, axis) = strstrt(';'.mesh, ';'.axis.'=') > 0 ? int(substr(mesh, strstrt(';'.mesh, ';'.axis.'=') + strlen(axis) + 1, -1)) : 1
spoken(mesh, micro, strategy, schedule, recompute) = blank(mesh).', micro-batch '.micro.', '.strategy.\
    (schedule eq '1f1b' || schedule eq '' ? '' : ', '.schedule).(recompute eq 'none' || recompute eq '' ? '' : ', recompute '.recompute)
shards = ''
borders = 0
array border_x[60]
array border_y[60]
array border_text[60]
take_border(x, y, text) = borders > 0 && x >= border_x[borders > 0 ? borders : 1] || borders == 60 ? 0 : \
    (borders = borders + 1, border_x[borders] = x, border_y[borders] = y, border_text[borders] = text, 1)
stats data using (shards = add(shards, sprintf('%d', size_of(strcol('mesh'), 'tp'))), column('iteration_s')) name 'time' nooutput
stats data using (column('memory_bytes') / 1e9) name 'memory' nooutput
stats data using (size_of(strcol('mesh'), 'tp')) name 'tp' nooutput
stats data using (take_border(column('memory_bytes') / 1e9, column('iteration_s'), \
    spoken(strcol('mesh'), strcol('micro_batch'), strcol('strategy'), strcol('schedule'), strcol('recompute')))) nooutput
note = sprintf('%d layout%s computed', time_records, time_records == 1 ? '' : 's').\
    (borders > 1 ? ', line: none of them is faster and smaller' : '')
picture_height = 560

set xlabel 'memory of the fullest GPU (GB)'
set ylabel 'time of a step (s)'
set logscale y 10
room = (time_max / time_min) ** 0.12 * 1.06 # for a line of text above and below all points
low = time_min / room
high = time_max * room
set yrange [low:high]
eval between_ticks('ytics')
set xrange [0:memory_max * 1.05]
set label 301 'the fastest: '.border_text[1] at graph 0.985, 0.03 right noenhanced font ',11'
if (borders > 1) { set label 302 'the smallest: '.border_text[borders] at graph 0.985, 0.97 right noenhanced font ',11' }
do for [i = 2:borders] {
    set arrow 300 + i from border_x[i - 1], border_y[i - 1] to border_x[i], border_y[i] nohead lw 1.6 lc rgb '#000000' back
}

# From few shards to many, from light to dark, colours of the palette, since no algorithm is here; marks say so in grey too.
shard_colours = '#E69F00 #56B4E9 #CC79A7 #009E73 #D55E00 #0072B2 #882255 #000000 #6A3D9A #999933 #6B3A00 #909090'
rank_of(n) = place(sorted, n) > 12 ? 12 : place(sorted, n)
shade(n) = word(shard_colours, rank_of(n))
shard_mark(n) = int(word('7 9 5 11 13 15 4 6 8 10 12 14', rank_of(n)))
x_of(n) = size_of(strcol('mesh'), 'tp') == n ? column('memory_bytes') / 1e9 : NaN
sorted = ''
do for [k = 1:int(tp_max)] { if (has(shards, ''.k)) { sorted = add(sorted, ''.k) } }

points = values(0, "column('memory_bytes') / 1e9", "column('iteration_s')")
eval begin
plot for [n in sorted] data using (x_of(n + 0)):(column('iteration_s')) with points pt shard_mark(n) ps 0.8 lc rgb shade(n) title 'tp = '.n @points
eval finish
