# Time of one all-reduce against its payload, both axes logarithmic: flat where latency rules, rising where bandwidth does.

heading = 'All-reduce time'
note = 'each algorithm at its best shape'
eval take_rows
stats data using (column('payload_bytes')) name 'payload' nooutput
stats data using (1e3 * column('allreduce_s')) name 'time' nooutput

set xlabel 'payload'
set ylabel 'all-reduce time (ms)'
set logscale xy 10
set format x '%.0s %cB'
set format y '%g'
low = payload_min / 1.3
high = payload_max * 1.3
set xrange [low:high]
eval between_ticks('xtics')
low = time_min / 1.4
high = time_max * 1.4
set yrange [low:high]
eval between_ticks('ytics')
x_of(z) = column('payload_bytes')
y_of(z) = 1e3 * column('allreduce_s')

eval begin
eval "plot ".curves.@also_exact_key
eval finish
