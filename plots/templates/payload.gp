# Time (payload) or bus bandwidth (busbw) of one collective against its payload, both axes logarithmic.
# A time is flat where latency rules and rises where bandwidth does. The script says `heading` and `quantity` (of an operation), the column `shown` and its
# `scale`.

eval take_rows
eval take_operation
heading = sprintf(heading, operation)
quantity = strstrt(quantity, '%s') > 0 ? sprintf(quantity, operation) : quantity
stats data using (column('payload_bytes')) name 'payload' nooutput
stats data using (scale * column(shown)) name 'shown' nooutput
eval bytes_unit
x_of(z) = column('payload_bytes') / unit_scale
y_of(z) = scale * column(shown)
is_low_best = shown eq 'allreduce_s'
has_best_start = 1
eval take_ends

set xlabel 'payload ('.unit_name.')'
set ylabel quantity
set logscale xy 10
set format x '%g'
set format y '%g'
low = payload_min / unit_scale / 1.3
high = payload_max / unit_scale * 1.3
set xrange [low:high]
eval between_ticks('xtics')
low = shown_min / 1.4
high = shown_max * 1.4
set yrange [low:high]
eval between_ticks('ytics')
is_log_y = 1
eval name_ends

eval begin
eval "plot ".curves.key_entries
eval finish
