# Time of calls against their payload: measured, expected with its band, and with the first suspect; both axes logarithmic.

operations = ''
stats data using (operations = add(operations, strcol('operation')), 0) nooutput
operation = words(operations) > 1 ? 'call' : spoken(word(operations, 1))
stats data using (take_text(@series_of)) nooutput
series_count = texts_count > 12 ? 12 : texts_count
suspect = ''
stats data using (suspect = strcol('suspect'), 0) nooutput
has_suspect = suspect ne '' && suspect ne 'nothing'
heading = 'Time of one '.operation.', measured and expected'
note = 'marks: measured; lines: expected, with 95 % bands'.(has_suspect ? '; dots: if it is '.suspect : '').\
    (texts_count > 12 ? sprintf(', the first 12 of %d series; expect.csv has all', texts_count) : '')
stats data using (column('payload_bytes')) name 'payload' nooutput
eval bytes_unit
stats data using (1e6 * column('measured_s')) name 'measured' nooutput
stats data using (1e6 * column('low_s')) name 'low_us' nooutput
stats data using (1e6 * column('high_s')) name 'high_us' nooutput

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

us(i, name) = in_series(i) ? 1e6 * number(name, NaN) : NaN
suspects = !has_suspect ? '' : "for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'suspect_s')) ".\
    "with lines lw 1.8 lc rgb series_colour(i) dt 14 notitle, "
points = values(0, "column('payload_bytes') / unit_scale", "1e6 * column('measured_s')")
eval begin
plot for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'low_s')):(us(i, 'high_s')) \
        with filledcurves fs transparent solid 0.2 noborder lc rgb series_colour(i) notitle, \
    for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'expected_s')) \
        with lines lw 1.8 lc rgb series_colour(i) notitle, @suspects \
    for [i = 1:series_count] data using (column('payload_bytes') / unit_scale):(us(i, 'measured_s')) \
        with points pt mark(i) ps 0.6 lc rgb series_colour(i) notitle, \
    for [i = 1:series_count] keyentry with linespoints lw 1.8 pt mark(i) ps 0.6 lc rgb series_colour(i) title texts[i] @points
eval finish
