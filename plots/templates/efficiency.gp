# Scaling efficiency against GPUs: how much of the ideal each algorithm keeps.

heading = 'Scaling efficiency'
eval take_rows
counts = ''
stats data using (counts = add(counts, strcol('gpus')), column('gpus')) name 'gpus' nooutput
stats data using (100 * column('efficiency_frac')) name 'percent' nooutput
low = gpus_min / 1.2
high = gpus_max * 1.2
top = percent_max > 100 ? percent_max : 100

set xlabel 'GPUs'
set ylabel 'scaling efficiency (%)'
set logscale x 2
set xrange [low:high]
bottom = percent_min - 0.05 * (top - percent_min) - 0.2
set yrange [bottom < 0 ? 0 : bottom:top + 0.05 * (top - percent_min) + 0.2]
eval count_ticks
x_of(z) = column('gpus')
y_of(z) = 100 * column('efficiency_frac')

eval begin
eval "plot sample [1.001 * low:high / 1.001] 100 with lines lt 1 lw 2 lc rgb '#000000' dt 14 title 'ideal', ".\
    curves
eval finish
