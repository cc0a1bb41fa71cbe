# Predicted over measured time less one, against the payload.

set label 101 'Error of predicted all-reduce times'
set xlabel 'payload'
set ylabel 'predicted / measured - 1 (%)'
set logscale x 10
set xrange [x_min:x_max]
set yrange [error_min:error_max]
set xzeroaxis lt 1 lw 1.4 lc rgb '#333333'

# Within `using`: the error of the rows of series i.
of_series(i) = column('nodes') == series_nodes[i] && column('gpus') == series_gpus[i]
error_percent(i) = of_series(i) ? 100 * column('error_frac') : NaN
series_mark(i) = series_fitted[i] ? mark(i) - 1 : mark(i)

plot for [i = 1:series_count] data using (column('payload_bytes')):(error_percent(i)) \
        with linespoints lw 1.6 pt series_mark(i) ps 0.6 lc rgb colour(i) dt dash(i) notitle, \
    for [i = 1:series_count] keyentry with linespoints lw 1.6 pt series_mark(i) ps 0.6 \
        lc rgb colour(i) dt dash(i) title series[i]
eval finish
