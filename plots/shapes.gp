# All-reduce time over the grid shapes X x Y of one GPU count, the best shape marked; horizontal
# lines are the algorithms without a grid.

set label 101 'All-reduce time over grid shapes'
set xlabel 'grid shape, X (row) x Y (column)'
set ylabel 'all-reduce time per step (ms)'
set logscale x 2
set logscale y 10
set xrange [x_min:x_max]
set yrange [y_min:y_max]
if (is_text) {
    set label best_label at best_x, best_ms noenhanced @best_side offset character 0, -1
} else {
    set xtics rotate by 45 right
    set bmargin at screen 0.2 + 0.045 * key_rows
    set label best_label at best_x, best_ms noenhanced front @best_side \
        offset character 0, -1.7 point pt 6 ps 1.9 lw 2 lc rgb '#000000'
}

time_ms(is_wanted) = is_wanted ? 1e3 * column('allreduce_s') : NaN
is_reference(i) = strcol('algorithm') eq references[i]

# As text of the plot command, since a loop without turns would draw an empty curve.
reference_lines = references_count == 0 ? '' : "for [i = 1:references_count] data ".\
    "using (x_min):(time_ms(is_reference(i))):(x_max - x_min):(0) with vectors nohead ".\
    "lw 2.2 lc rgb colour(reference_styles[i]) dt dash(reference_styles[i]) title references[i], "
reference_names = references_count == 0 || !is_text ? '' : "for [i = 1:references_count] data ".\
    "using (sqrt(x_min * x_max)):(time_ms(is_reference(i))):(references[i]) ".\
    "with labels center notitle, "

plot @reference_lines @reference_names \
    for [i = 1:algorithms_count] data using (column('grid_x')):(time_ms(of(i))) \
        with lines lt styles[i] lw 2.2 lc rgb colour(styles[i]) dt dash(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('grid_x')):(time_ms(of(i))) \
        with points pt mark(styles[i]) ps mark_size lc rgb colour(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('grid_x')):(time_ms(of(i))):\
        (inner_size(strcol('engine'))):(inner_colour(strcol('engine'), styles[i])) \
        with points pt mark(styles[i]) ps variable lc rgb variable notitle, \
    for [i = 1:algorithms_count] keyentry with linespoints lt styles[i] lw 2.2 \
        pt key_mark(styles[i]) ps mark_size lc rgb colour(styles[i]) dt dash(styles[i]) \
        title algorithms[i] @engine_key
eval finish
