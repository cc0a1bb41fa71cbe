# Where the time of an iteration goes: one bar per algorithm, its parts in the order they happen.

set label 101 'Breakdown of one iteration'
set xlabel 'time (ms)'
set xrange [0:x_max]
set yrange [y_max:-0.7]
set ytics scale 0 font ',13'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'

starts = '- overhead_end_s forward_end_s backward_end_s exposed_end_s'
ends = 'overhead_end_s forward_end_s backward_end_s exposed_end_s optimizer_end_s'
array parts[5] = ['overhead', 'forward', 'backward', 'exposed all-reduce', 'optimizer']
# Light and dark alternate, so that neighbours differ in print in grey too.
fills = '#DDDDDD #56B4E9 #0072B2 #E69F00 #444444'
start_ms(p) = p == 1 ? 0 : 1e3 * column(word(starts, p))
end_ms(p) = 1e3 * column(word(ends, p))
bar = 0.38

set style fill solid 1.0 border lc rgb '#333333'
plot for [p = 1:5] data using (end_ms(p)):(column('bar_position')):(start_ms(p)):(end_ms(p)):\
        (column('bar_position') - bar):(column('bar_position') + bar) \
        with boxxyerror lc rgb word(fills, p) title parts[p], \
    data using (end_ms(5)):(column('bar_position')):(strcol('bar_text')) \
        with labels left offset character 0.7, 0 font ',12' notitle
eval finish
