# Change of each prediction by one other assumption: a bar for each of the largest changes, by the rows they are of.

heading = 'What the predictions depend on'
note = 'the largest changes of any prediction when one assumption has another value; sensitivity.csv has all'
stats data using (take_row(strcol('row')), 100 * column('change_frac')) name 'change' nooutput
picture_height = 150 + 17 * last_y
least = change_min < 0 ? change_min : 0
most = change_max > 0 ? change_max : 0

set xlabel 'change of the prediction (%)'
set xrange [least - 0.14 * (most - least):most + 0.14 * (most - least)]
set yrange [last_y + 0.7:0.3]
set ytics scale 0 font ',11'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lt 1 lw 1.2 lc rgb '#333333'
set style fill solid 1.0 border lc rgb '#333333'
unset key
eval show_groups

half = 0.38
percent(z) = 100 * column('change_frac')
bar_colour(value) = value < 0 ? 0x56B4E9 : 0xE69F00
text_of(is_below) = (percent(0) < 0) == is_below ? sprintf('%+.2g %%', percent(0)) : ''
eval begin
plot data using (percent(0)):(y_of_row(column(0))):(0):(percent(0)):(y_of_row(column(0)) - half):(y_of_row(column(0)) + half):\
        (bar_colour(percent(0))):ytic(cut(strcol('assumption').' = '.strcol('value'), 40)) with boxxyerror lc rgb variable, \
    data using (percent(0)):(y_of_row(column(0))):(text_of(1)) with labels right noenhanced font ',10' offset character -0.5, 0, \
    data using (percent(0)):(y_of_row(column(0))):(text_of(0)) with labels left noenhanced font ',10' offset character 0.5, 0
eval finish
