# Predicted over measured time less one, against the payload.

eval take_series
heading = 'Error of predicted times of one '.operation
note = 'above zero: predicted to take longer than measured'.series_note
stats data using (column('payload_bytes')) name 'payload' nooutput
eval bytes_unit
stats data using (100 * column('error_frac')) name 'error' nooutput

set xlabel 'payload ('.unit_name.')'
set ylabel 'predicted / measured - 1 (%)'
set logscale x 10
set format x '%g'
low = payload_min / unit_scale / 1.6
high = payload_max / unit_scale * 1.6
set xrange [low:high]
eval between_ticks('xtics')
# Five percent at least, so that a good model does not look like a bad one.
set yrange [error_min > -4.5 ? -5 : 1.1 * error_min:error_max < 4.5 ? 5 : 1.1 * error_max]
set xzeroaxis lt 1 lw 1.4 lc rgb '#333333'

percent(i) = in_series(i) ? 100 * column('error_frac') : NaN
points = values(0, "column('payload_bytes') / unit_scale", "100 * column('error_frac')")
eval begin
plot for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(percent(i)) \
        with linespoints lw 1.6 pt series_mark(i) ps 0.6 lc rgb series_colour(i) dt dash(i) notitle, \
    for [i = 1:series_count] keyentry with linespoints lw 1.6 pt series_mark(i) ps 0.6 lc rgb series_colour(i) dt dash(i) title series_name(i) @points
eval finish
