# All-reduce time over the grid shapes X x Y of one GPU count, the best grid circled.
# Horizontal lines are the algorithms without a choice of grids.

heading = 'All-reduce time over grid shapes'
eval take_rows
grids = ''
lines = ''
do for [name in algorithms] { if (shapes_count(name) > 1) { grids = add(grids, name) } else { lines = add(lines, name) } }
is_grid(z) = has(grids, strcol('algorithm'))
ticks = ''
stats data using (is_grid(0) ? (ticks = add(ticks, strcol('shape')), grid_x(strcol('shape'))) : NaN) name 'grid' nooutput
best_ms = 1e30
stats data using (is_grid(0) && 1e3 * column('allreduce_s') < best_ms ? (best_shape = strcol('shape'), best_name = strcol('algorithm'), \
    best_ms = 1e3 * column('allreduce_s')) : best_ms) nooutput
stats data using (1e3 * column('allreduce_s')) name 'time' nooutput
note = sprintf('best grid: %s %s, %.4g ms', best_name, best_shape, best_ms)

set xlabel 'grid shape, X (row) x Y (column)'
set ylabel 'all-reduce time per step (ms)'
set logscale x 2
set logscale y 10
set xrange [grid_min / 1.2:grid_max * 1.2]
low = time_min / 1.3
high = time_max * 1.2
set yrange [low:high]
set format y '%g'
eval between_ticks('ytics')
low = grid_min / 1.2
high = grid_max * 1.2
ticks_max = 22
ticks = best_shape.' '.ticks
eval shape_ticks
set xtics rotate by 45 right
set label 99 '' at grid_x(best_shape), best_ms point pt 6 ps 1.9 lw 2 front

time_ms(name) = of(name) ? 1e3 * column('allreduce_s') : NaN
grid_curves = "for [name in grids] data using (grid_x(strcol('shape'))):(time_ms(name)) smooth unique ".\
    " with lines lw 2.2 lc rgb colour(style(name)) dt dash(style(name)) notitle, ".\
    "for [name in grids] data using (grid_x(strcol('shape'))):(time_ms(name)):(row_mark(style(name), strcol('exact'))) ".\
    "with points pt variable ps mark_size lc rgb colour(style(name)) notitle"
line_curves = "for [name in lines] data using (grid_min / 1.2):(time_ms(name)):(grid_max * 1.2 - grid_min / 1.2):(0) ".\
    "with vectors nohead lw 2.2 lc rgb colour(style(name)) dt dash(style(name)) notitle"
entries = "for [name in grids] keyentry with linespoints lw 2.2 pt key_mark(name) ps mark_size ".\
    "lc rgb colour(style(name)) dt dash(style(name)) title key_name(name), ".\
    (words(lines) == 0 ? '' : "for [name in lines] keyentry with lines lw 2.2 lc rgb colour(style(name)) dt dash(style(name)) ".\
    "title key_name(name), ").\
    "keyentry with points pt 6 ps 1.9 lw 2 lc rgb '#000000' title 'best grid'"

eval begin
eval 'plot '.(words(lines) == 0 ? '' : line_curves.', ').grid_curves.', '.entries.values(0, "is_grid(0) ? grid_x(strcol('shape')) : sqrt(grid_min * grid_max)", "1e3 * column('allreduce_s')")
eval finish
