# Samples per second against GPUs, both axes logarithmic: the ideal is a straight line.

heading = 'Training throughput'
eval take_rows
counts = ''
stats data using (counts = add(counts, strcol('gpus')), column('gpus')) name 'gpus' nooutput
stats data using (column('samples_per_s')) name 'samples' nooutput
# Samples per second and GPU at an efficiency of 1: the same for all rows of a series, up to rounding.
stats data using (column('samples_per_s') / column('efficiency_frac') / column('gpus')) name 'ideal' nooutput

x_of(z) = column('gpus')
y_of(z) = column('samples_per_s')
is_low_best = 0
eval take_ends

set xlabel 'GPUs'
set ylabel 'samples per second'
set logscale x 2
set logscale y 10
set format y '%.0s%c'
low = samples_min / 1.4
high = (samples_max > ideal_max * gpus_max ? samples_max : ideal_max * gpus_max) * 1.4
set yrange [low:high]
eval between_ticks('ytics')
is_log_y = 1
eval name_ends
if (longest <= name_length) { set label 399 'ideal' at gpus_max, ideal_max * gpus_max right offset character -1, 0.3 font ',12' }
low = gpus_min / 1.2
high = gpus_max * 1.1
set xrange [low:high]
eval count_ticks

eval begin
eval "plot ideal_max * x with lines lt 1 lw 2 lc rgb '#000000' dt 14 title 'ideal', ".curves.key_entries
eval finish
