# Scaling efficiency against GPUs: how much of the ideal each algorithm keeps.

set label 101 'Scaling efficiency'
set xlabel 'GPUs'
set ylabel 'scaling efficiency (%)'
set logscale x 2
set xrange [x_min:x_max]
set yrange [y_min:y_max]
set ytics 20

percent(is_wanted) = is_wanted ? 100 * column('efficiency_frac') : NaN

plot 100 with lines lt (is_text ? 0 : 1) lw 2 lc rgb '#000000' dt 14 title 'ideal', \
    for [i = 1:algorithms_count] data using (column('gpus')):(percent(of(i))) \
        with lines lt styles[i] lw 2.2 lc rgb colour(styles[i]) dt dash(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('gpus')):(percent(of(i))) \
        with points pt mark(styles[i]) ps mark_size lc rgb colour(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('gpus')):(percent(of(i))):\
        (inner_size(strcol('engine'))):(inner_colour(strcol('engine'), styles[i])) \
        with points pt mark(styles[i]) ps variable lc rgb variable notitle, \
    for [i = 1:algorithms_count] keyentry with linespoints lt styles[i] lw 2.2 \
        pt key_mark(styles[i]) ps mark_size lc rgb colour(styles[i]) dt dash(styles[i]) \
        title algorithms[i] @engine_key
eval finish
