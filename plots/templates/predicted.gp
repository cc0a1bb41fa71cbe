# The error of each prediction of a published result, a line each, with the band of the prediction.

heading = 'Published results, predicted and measured'
note = 'bars: bands of the predictions, none where nothing is open; filled: the measured value is in the band'
quantities = 'efficiency_frac images_per_s samples_per_s iteration_s train_s'
array quantity_name[6] = ['other', 'scaling efficiency', 'images per second', 'samples per second', 'time of an iteration', 'time to train']
quantity(name) = quantity_name[1 + (has(quantities, name) ? place(quantities, name) : 0)]
percent(name) = 100 * (number(name, column('predicted')) / column('measured') - 1)
# Layouts have no algorithm.
algorithm(z) = strcol('algorithm') eq '' ? 'layouts' : strcol('algorithm')
of(name) = algorithm(0) eq name
stats data using (take_algorithm(algorithm(0), '', ''), take_row(quantity(strcol('quantity'))), \
    percent('predicted')) name 'error' nooutput
stats data using (percent('low')) name 'low' nooutput
stats data using (percent('high')) name 'high' nooutput
least = low_min < error_min ? low_min : error_min
most = high_max > error_max ? high_max : error_max
picture_height = 150 + 17 * last_y

set xlabel 'predicted / measured - 1 (%)'
set xrange [(least < 0 ? 1.05 * least : 0) - 2:(most > 0 ? 1.05 * most : 0) + 4]
set yrange [last_y + 0.7:0.3]
set ytics scale 0 font ',11'
set xtics scale 0.5
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lt 1 lw 1.4 lc rgb '#333333'
eval show_groups

point(name) = of(name) ? percent('predicted') : NaN
# A prediction outside of its own band is tied to it.
nearest(z) = percent('predicted') < percent('low') ? percent('low') : percent('predicted') > percent('high') ? percent('high') : NaN
# Without a band a bar is as long as nothing.
bar(end) = column(end) == column(end) ? percent(end) : percent('predicted')
points = values(0, "percent('predicted')", 'y_of_row(column(0))')
eval begin
plot for [name in algorithms] data using (point(name)):(y_of_row(column(0))):(nearest(0) - point(name)):(0) \
        with vectors nohead lw 1.4 dt 14 lc rgb colour(style(name)) notitle, \
    for [name in algorithms] data using (point(name)):(y_of_row(column(0))):(bar('low')):(bar('high')):\
        ytic(cut(strcol('title'), 44)) with xerrorbars pt 0 lw 1.4 lc rgb colour(style(name)) notitle, \
    for [name in algorithms] data using (point(name)):(y_of_row(column(0))):(strcol('inside') eq 'yes' ? mark(1) : open_mark(1)) \
        with points pt variable ps 0.75 lc rgb colour(style(name)) notitle, \
    for [name in algorithms] keyentry with lines lw 1.4 lc rgb colour(style(name)) title name @points
eval finish
