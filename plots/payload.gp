# Time of one all-reduce against its payload, both axes logarithmic: flat where latency rules,
# rising where bandwidth does.

set label 101 'All-reduce time'
set xlabel 'payload'
set ylabel 'all-reduce time (ms)'
set logscale xy 10
set xrange [x_min:x_max]
set yrange [y_min:y_max]

time_ms(is_wanted) = is_wanted ? 1e3 * column('allreduce_s') : NaN

plot for [i = 1:algorithms_count] data using (column('payload_bytes')):(time_ms(of(i))) \
        with lines lt styles[i] lw 2.2 lc rgb colour(styles[i]) dt dash(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('payload_bytes')):(time_ms(of(i))) \
        with points pt mark(styles[i]) ps mark_size lc rgb colour(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('payload_bytes')):(time_ms(of(i))):\
        (inner_size(strcol('engine'))):(inner_colour(strcol('engine'), styles[i])) \
        with points pt mark(styles[i]) ps variable lc rgb variable notitle, \
    for [i = 1:algorithms_count] keyentry with linespoints lt styles[i] lw 2.2 \
        pt key_mark(styles[i]) ps mark_size lc rgb colour(styles[i]) dt dash(styles[i]) \
        title algorithms[i] @engine_key
eval finish
