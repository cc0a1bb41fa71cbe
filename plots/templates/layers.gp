# Layers of a training step in forward order: measured times and computed ones, forward and backward, and when gradients are ready.

heading = 'Layers of a step, measured and computed'
note = 'marks: measured; lines: computed'
kinds = ''
stats data using (kinds = add(kinds, strcol('kind')), 0) nooutput
layers_count = STATS_records
stats data using (1e3 * column('forward_measured_s')) name 'forward' nooutput
stats data using (1e3 * column('backward_measured_s')) name 'backward' nooutput
stats data using (1e3 * column('forward_predicted_s')) name 'computed' nooutput
stats data using (1e3 * column('backward_predicted_s')) name 'computed_back' nooutput
most = forward_max > backward_max ? forward_max : backward_max
most = computed_max > most ? computed_max : most
most = computed_back_max > most ? computed_back_max : most
least = most
take(value) = value > 0 && value < least ? (least = value) : 0
stats data using (take(1e3 * column('forward_measured_s')), take(1e3 * column('backward_measured_s')), 0) nooutput

picture_height = 760
set format y '%g'
set xrange [-1:layers_count]
set xtics font ',10'
set ytics font ',11'
set ylabel font ',12' offset 1, 0
set title noenhanced font ',13' offset 0, -0.5

ms(name) = column(name) > 0 ? 1e3 * column(name) : NaN
of_kind(kind, name) = strcol('kind') eq kind ? ms(name) : NaN
pass = "for [k = 1:words(kinds)] data using 0:(of_kind(word(kinds, k), name_s)) with points pt mark(k) ps 0.45 ".\
    "lc rgb colour(k) notitle, data using (column(0) - 0.45):(ms(computed_s)):(0.9):(0) with vectors nohead lw 1.6 lc rgb '#000000' notitle"
ready = "data using 0:(1e3 * number('ready_measured_s', NaN)) with points pt mark(1) ps 0.3 lc rgb colour(1) notitle, ".\
    "data using 0:(1e3 * number('ready_predicted_s', NaN)) smooth unique with lines lw 1.6 lc rgb '#000000' notitle"

eval begin
part(points) = 1.0 * points / picture_height
top = 1 - (lines_count + 2) * line - part(10)
bottom = part(80)
panel_height = (top - bottom) / 3
set label 98 'layer, in forward order' at screen 0.535, screen part(56) center
set multiplot
set key off
set lmargin at screen 0.09
set rmargin at screen 0.985
do for [p = 1:3] {
    set tmargin at screen top - (p - 1) * panel_height - part(22)
    set bmargin at screen top - p * panel_height + part(24)
    set title word('forward backward gradients', p).(p == 3 ? ' ready after the backward pass began' : ' pass')
    set ylabel 'time (ms)'
    set format x (p < 3 ? '' : '%g')
    name_s = p == 1 ? 'forward_measured_s' : 'backward_measured_s'
    computed_s = p == 1 ? 'forward_predicted_s' : 'backward_predicted_s'
    if (p < 3) { set logscale y 10; set yrange [least / 1.5:most * 1.5] } else { unset logscale; set yrange [0:*] }
    eval 'plot '.(p < 3 ? pass : ready).values(0, 'column(0)', p < 3 ? 'ms(name_s)' : "1e3 * number('ready_measured_s', NaN)")
    eval hide_title
    unset label 98
}
# The key is of a plot of its own, as wide as the picture, in which nothing else is to be seen.
unset tics
unset border
set title ''
set ylabel ''
set xrange [0:1]
set yrange [0:1]
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen part(40)
set bmargin at screen 0
set key on at screen 0.5, screen part(10) bottom center
plot for [k = 1:words(kinds)] keyentry with points pt mark(k) ps 0.6 lc rgb colour(k) title word(kinds, k), \
    keyentry with lines lw 1.6 lc rgb '#000000' title 'computed', NaN notitle
unset multiplot
eval finish
