# Predicted over measured time of published runs, a point each, coloured by the table that they are in.

heading = 'Published training runs, predicted and measured'
note = 'time of a step, or to train; above 1: predicted to take longer; lines: 10 % off; no rows that were fitted to'
ratio(z) = column('predicted_s') / column('measured_s')
stats data using (take_algorithm(strcol('table'), '', ''), column('measured_s')) name 'time' nooutput
stats data using (ratio(0)) name 'ratio' nooutput
# Least and most that the axis has, so that a good model does not look like a bad one.
least = ratio_min < 0.5 ? ratio_min / 1.1 : 0.45
most = ratio_max > 2 ? ratio_max * 1.1 : 2.2
picture_height = 560

set xlabel 'measured time (s)'
set ylabel 'predicted / measured'
set logscale xy 10
set format x '%g'
set format y '%g'
set xrange [time_min / 1.6:time_max * 1.6]
set yrange [least:most]
set ytics (0.1, 0.2, 0.3, 0.5, 0.7, "" 0.9, 1, "" 1.1, 1.5, 2, 3, 5, 10)
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lt 1 lw 1.4 lc rgb '#333333'
set arrow 2 from graph 0, first 0.9 to graph 1, first 0.9 nohead lt 1 lw 0.8 dt 2 lc rgb '#777777'
set arrow 3 from graph 0, first 1.1 to graph 1, first 1.1 nohead lt 1 lw 0.8 dt 2 lc rgb '#777777'

point(name) = strcol('table') eq name ? ratio(0) : NaN
points = values(0, "column('measured_s')", "ratio(0)")
eval begin
plot for [name in algorithms] data using (column('measured_s')):(point(name)) \
        with points pt mark(style(name)) ps 0.6 lc rgb colour(style(name)) notitle, \
    for [name in algorithms] keyentry with points pt mark(style(name)) ps 0.8 lc rgb colour(style(name)) title name @points
eval finish
