# Time of calls against their payload, predicted and measured, both axes logarithmic.

eval take_series
heading = 'Time of one '.operation.', predicted and measured'
has_bands = 1
stats data using (has_bands = has_bands && strcol('low_s') ne '' && strcol('high_s') ne '', 0) nooutput
note = 'marks: measured; lines: predicted'.(has_bands ? ', with their 95 % bands' : '').series_note
stats data using (column('payload_bytes')) name 'payload' nooutput
eval bytes_unit
stats data using (1e6 * column('measured_s')) name 'measured' nooutput
stats data using (1e6 * number('low_s', column('predicted_s'))) name 'low_us' nooutput
stats data using (1e6 * number('high_s', column('predicted_s'))) name 'high_us' nooutput

set xlabel 'payload ('.unit_name.')'
set ylabel 'time of one '.operation.' (us)'
set logscale xy 10
set format x '%g'
set format y '%g'
low = payload_min / unit_scale / 1.6
high = payload_max / unit_scale * 1.6
set xrange [low:high]
eval between_ticks('xtics')
low = (measured_min < low_us_min ? measured_min : low_us_min) / 1.3
high = (measured_max > high_us_max ? measured_max : high_us_max) * 1.3
set yrange [low:high]
eval between_ticks('ytics')

us(i, name) = in_series(i) ? 1e6 * column(name) : NaN
bands = !has_bands ? '' : "for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'low_s')):(us(i, 'high_s')) ".\
    "with filledcurves fs transparent solid 0.2 noborder lc rgb series_colour(i) notitle, "
points = values(0, "column('payload_bytes') / unit_scale", "1e6 * column('measured_s')")
eval begin
plot @bands for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'predicted_s')) \
        with lines lw 1.8 lc rgb series_colour(i) dt dash(i) notitle, \
    for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'measured_s')) \
        with points pt series_mark(i) ps 0.6 lc rgb series_colour(i) notitle, \
    for [i = 1:series_count] keyentry with linespoints lw 1.8 pt series_mark(i) ps 0.6 lc rgb series_colour(i) dt dash(i) title series_name(i) @points
eval finish
