# Scaling efficiency against GPUs: how much of the ideal each algorithm keeps.

heading = 'Scaling efficiency'
eval take_rows
counts = ''
stats data using (counts = add(counts, strcol('gpus')), column('gpus')) name 'gpus' nooutput
stats data using (100 * column('efficiency_frac')) name 'percent' nooutput
x_of(z) = column('gpus')
y_of(z) = 100 * column('efficiency_frac')
is_low_best = 0
eval take_ends
top = percent_max > 100 ? percent_max : 100

set xlabel 'GPUs'
set ylabel 'scaling efficiency (%)'
set logscale x 2
low = percent_min - 0.05 * (top - percent_min) - 0.2
low = low < 0 ? 0 : low
high = top + 0.05 * (top - percent_min) + 0.2
set yrange [low:high]
eval name_ends
if (longest <= name_length) { set label 399 'ideal' at graph 0.985, first 100 right offset 0, 0.5 font ',12' }
low = gpus_min / 1.2
high = gpus_max * 1.1
set xrange [low:high]
eval count_ticks

eval begin
eval "plot sample [1.001 * low:high / 1.001] 100 with lines lt 1 lw 2 lc rgb '#000000' dt 14 title 'ideal', ".\
    curves.key_entries
eval finish
