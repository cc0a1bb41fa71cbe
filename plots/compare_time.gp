# Time of all-reduces against their payload, predicted and measured, both axes logarithmic.

set label 101 'All-reduce time, predicted and measured'
set xlabel 'payload'
set ylabel 'time (us)'
set logscale xy 10
set xrange [x_min:x_max]
set yrange [time_min:time_max]

# Within `using`: a value of the rows of series i.
of_series(i) = column('nodes') == series_nodes[i] && column('gpus') == series_gpus[i]
time_us(i, name) = of_series(i) ? 1e6 * column(name) : NaN
series_mark(i) = series_fitted[i] ? mark(i) - 1 : mark(i)

bands = !has_bands ? '' : "for [i = 1:series_count] data using (column('payload_bytes')):".\
    "(time_us(i, 'low_s')):(time_us(i, 'high_s')) with filledcurves fs transparent solid 0.2 noborder ".\
    "lc rgb colour(i) notitle, "

plot @bands for [i = 1:series_count] data using (column('payload_bytes')):(time_us(i, 'predicted_s')) \
        with lines lw 1.8 lc rgb colour(i) dt dash(i) notitle, \
    for [i = 1:series_count] data using (column('payload_bytes')):(time_us(i, 'measured_s')) \
        with points pt series_mark(i) ps 0.6 lc rgb colour(i) notitle, \
    for [i = 1:series_count] keyentry with linespoints lw 1.8 pt series_mark(i) ps 0.6 \
        lc rgb colour(i) dt dash(i) title series[i]
eval finish
