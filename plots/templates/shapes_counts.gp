# All-reduce time over the grid shapes X x Y, a panel for each GPU count, all to one scale.
# Horizontal lines are the algorithms without a choice of grids.

heading = 'All-reduce time over grid shapes'
counts = ''
stats data using (counts = add(counts, strcol('gpus')), 1e3 * column('allreduce_s')) name 'time' nooutput
take_shape(name, gpus, shape) = shapes = add(shapes, name.'@'.gpus.':'.shape)
eval take_rows
note = ''
shapes = ''
stats data using (take_shape(strcol('algorithm'), strcol('gpus'), strcol('shape')), 0) nooutput
# An algorithm with several grids at some count is a curve everywhere; one grid alone is a mark on it.
grids = ''
do for [name in algorithms] { do for [gpus in counts] { if (shapes_count(name.'@'.gpus) > 1) { grids = add(grids, name) } } }
lines = ''
do for [name in algorithms] { if (!has(grids, name)) { lines = add(lines, name) } }

panels_rows = (words(counts) + 1) / 2
# The key has two columns, so many lines, and room for them below.
key_height = 21 * ceil((words(grids) + words(lines) + 1) / 2.0)
picture_height = 110 + key_height + 220 * panels_rows
low = time_min / 1.4
high = time_max * 1.3
set format y '%g'
set logscale x 2
set logscale y 10
set ytics font ',11'
eval between_ticks('ytics')
low_ms = low
high_ms = high
set xtics rotate by 45 right font ',10'
set ylabel font ',12' offset 1, 0
set title noenhanced font ',13' offset 0, -0.5

at(name, gpus) = of(name) && strcol('gpus') eq gpus ? 1e3 * column('allreduce_s') : NaN
panel = "for [name in grids_here] data using (grid_x(strcol('shape'))):(at(name, gpus)) smooth unique ".\
    "with lines lw 1.8 lc rgb colour(style(name)) dt dash(style(name)) notitle, ".\
    "for [name in grids_here] data using (grid_x(strcol('shape'))):(at(name, gpus)):(row_mark(style(name), strcol('exact'))) ".\
    "with points pt variable ps 0.6 lc rgb colour(style(name)) notitle"
line_curves = "for [name in lines_here] data using (grid_min / 1.25):(at(name, gpus)):(1.25 * grid_max - grid_min / 1.25):(0) ".\
    "with vectors nohead lw 1.8 lc rgb colour(style(name)) dt dash(style(name)) notitle, "
key_plot = "plot for [name in grids] keyentry with linespoints lw 1.8 pt key_mark(name) ps 0.6 ".\
    "lc rgb colour(style(name)) dt dash(style(name)) title name, ".\
    (words(lines) == 0 ? '' : "for [name in lines] keyentry with lines lw 1.8 lc rgb colour(style(name)) dt dash(style(name)) ".\
    "title name, ")."keyentry with points pt 6 ps 1.7 lw 1.6 lc rgb '#000000' title 'best grid', NaN notitle"

eval begin
part(points) = 1.0 * points / picture_height
top = 1 - (lines_count + 2) * line - part(10)
bottom = part(50 + key_height)
panel_height = (top - bottom) / panels_rows
set label 98 'grid shape, X (row) x Y (column)' at screen 0.535, screen part(32 + key_height) center
set multiplot
set key off
do for [p = 1:words(counts)] {
    gpus = word(counts, p)
    grids_here = ''
    lines_here = ''
    do for [name in grids] { if (shapes_count(name.'@'.gpus) > 0) { grids_here = add(grids_here, name) } }
    do for [name in lines] { if (shapes_count(name.'@'.gpus) > 0) { lines_here = add(lines_here, name) } }
    ticks = ''
    best_ms = 1e30
    set xrange [*:*] # of which `stats` takes notice
    set yrange [*:*]
    stats data using (strcol('gpus') eq gpus && has(grids_here, strcol('algorithm')) ? \
        (ticks = add(ticks, strcol('shape')), grid_x(strcol('shape'))) : NaN) name 'grid' nooutput
    stats data using (strcol('gpus') eq gpus && has(grids_here, strcol('algorithm')) && 1e3 * column('allreduce_s') < best_ms ? \
        (best_shape = strcol('shape'), best_name = strcol('algorithm'), best_ms = 1e3 * column('allreduce_s')) : best_ms) nooutput
    set lmargin at screen p % 2 == 1 ? 0.085 : 0.565
    set rmargin at screen p % 2 == 1 ? 0.505 : 0.985
    set tmargin at screen top - (p - 1) / 2 * panel_height - part(20)
    set bmargin at screen top - ((p - 1) / 2 + 1) * panel_height + part(46)
    set xrange [grid_min / 1.25:grid_max * 1.25]
    set yrange [low_ms:high_ms]
    low = grid_min / 1.25
    high = grid_max * 1.25
    ticks = best_shape.' '.ticks
    eval shape_ticks
    set title sprintf('%s GPUs, best grid: %s%s, %.4g ms', grouped(gpus), words(grids) > 1 ? best_name.' ' : '', best_shape, best_ms)
    y_text = p % 2 == 1 ? 'all-reduce per step (ms)' : ''
    set ylabel y_text
    set label 99 '' at grid_x(best_shape), best_ms point pt 6 ps 1.7 lw 1.6 lc rgb '#000000' front
    eval 'plot '.(words(lines_here) == 0 ? '' : line_curves).panel.values(0, "has(grids_here, strcol('algorithm')) ? grid_x(strcol('shape')) : sqrt(grid_min * grid_max)", \
        "strcol('gpus') eq gpus ? 1e3 * column('allreduce_s') : NaN")
    eval hide_title
    unset label 98
}
# The key is of a plot of its own, as wide as the picture, in which nothing else is to be seen.
unset label 99
unset logscale
unset tics
unset border
set title ''
set ylabel ''
set xrange [0:1]
set yrange [0:1]
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen part(16 + key_height)
set bmargin at screen 0
set key on at screen 0.5, screen part(10) bottom center maxcols 2
eval key_plot
unset multiplot
eval finish
