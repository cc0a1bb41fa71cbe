# Scaling efficiency of the fastest layout of each number of GPUs, with its mesh below the point.

heading = 'Scaling efficiency of the fastest layouts'
counts = ''
stats data using (counts = add(counts, strcol('gpus')), column('gpus')) name 'gpus' nooutput
stats data using (100 * column('efficiency_frac')) name 'percent' nooutput
fewest = 'the fewest GPUs'
take_fewest(text) = text eq '' ? 0 : (fewest = substr(text, 1, strstrt(text, ' ')).'GPUs', 0)
stats data using (take_fewest(strcol('baseline'))) nooutput
note = '100 % is the fastest layout on '.fewest.', per GPU'
top = percent_max > 100 ? percent_max : 100

# A cell has `;` where the mesh has `,`: a line for each axis.
lines(mesh) = changed(mesh, ";", "\n")
axes(mesh) = strstrt(mesh, ';') > 0 ? 1 + axes(substr(mesh, strstrt(mesh, ';') + 1, -1)) : 1
stats data using (axes(strcol('mesh'))) name 'axes' nooutput

set xlabel 'GPUs'
set ylabel 'scaling efficiency (%)'
set logscale x 2
room = 0.075 + 0.055 * axes_max # of the height, for the names below the lowest point
low = (percent_min - room * (top + 1)) / (1 - room)
low = top - percent_min < 2 ? top - 2 / (1 - room) : low
low = low < 0 ? 0 : low
high = top + 0.06 * (top - low)
set yrange [low:high]
low = gpus_min / 1.4
high = gpus_max * 1.25
set xrange [low:high]
eval count_ticks
set label 399 'ideal' at graph 0.985, first 100 right offset 0, 0.5 font ',12'
unset key

points = values(0, "column('gpus')", "100 * column('efficiency_frac')")
eval begin
plot sample [1.001 * low:high / 1.001] 100 with lines lt 1 lw 2 lc rgb '#000000' dt 14 notitle, \
    data using 'gpus':(100 * column('efficiency_frac')) with linespoints lw 2.4 pt 7 ps 0.9 lc rgb colour(1) notitle, \
    data using 'gpus':(100 * column('efficiency_frac')):(lines(strcol('mesh'))) \
        with labels right offset 0.8, -1.1 font ',11' noenhanced notitle @points
eval finish
