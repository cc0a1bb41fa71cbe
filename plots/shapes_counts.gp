# All-reduce time over the grid shapes X x Y, a panel for each GPU count, all to the same scale;
# horizontal lines are the algorithms without a grid.

title = 'All-reduce time over grid shapes'
set xtics rotate by 45 right font ',10'
set ytics font ',11'
set ylabel font ',12' offset 1.2, 0
set title noenhanced font ',13' offset 0, -0.5

# Points (1/72 inch in print) to parts of the height.
part(points) = 1.0 * points / picture_height
top = title_y - (subtitle_count + 1) * row - part(14)
bottom = part(36 + 22 * key_rows)
height = (top - bottom) / panels_rows

time_ms(p, is_wanted) = is_wanted && column('gpus') == panel_gpus[p] ? 1e3 * column('allreduce_s') : NaN
is_reference(i) = strcol('algorithm') eq references[i]
reference_key = references_count == 0 ? '' : "for [i = 1:references_count] keyentry with lines ".\
    "lw 2.2 lc rgb colour(reference_styles[i]) dt dash(reference_styles[i]) title references[i], "
reference_lines = "for [i in panel_references[p]] data ".\
    "using (panel_min[p]):(time_ms(p, is_reference(int(i)))):(panel_max[p] - panel_min[p]):(0) ".\
    "with vectors nohead lw 2.2 lc rgb colour(reference_styles[int(i)]) ".\
    "dt dash(reference_styles[int(i)]) notitle, "
panel = "for [i in panel_algorithms[p]] data using (column('grid_x')):(time_ms(p, of(int(i)))) ".\
    "with linespoints lw 1.8 pt mark(styles[int(i)]) ps 0.6 lc rgb colour(styles[int(i)]) dt dash(styles[int(i)]) notitle, ".\
    "for [i in panel_algorithms[p]] data using (column('grid_x')):(time_ms(p, of(int(i)))):".\
    "(0.75 * inner_size(strcol('engine'))):(inner_colour(strcol('engine'), styles[int(i)])) ".\
    "with points pt mark(styles[int(i)]) ps variable lc rgb variable notitle"

# The key is of a plot of its own, as wide as the picture, in which nothing else is to be seen.
key_plot = "plot 0 notitle, ".reference_key.\
    "for [i = 1:algorithms_count] keyentry with linespoints lw 2.2 pt key_mark(styles[i]) ps mark_size ".\
    "lc rgb colour(styles[i]) dt dash(styles[i]) title algorithms[i] ".engine_key

x_title = "set label 98 'grid shape, X (row) x Y (column)' at screen 0.535, ".\
    "screen part(28 + 22 * key_rows) center"
do for [pass = 1:2] {
    if (pass == 2) { eval to_png }
    eval x_title
    set key off
    set border 31 lw 1.2 lc rgb '#333333'
    set xrange [panel_min[1]:panel_max[1]]
    set yrange [y_min:y_max]
    set logscale x 2
    set logscale y 10
    set multiplot
    do for [p = 1:panels_count] {
        column_of = (p - 1) % 2
        row_of = (p - 1) / 2
        set lmargin at screen column_of == 0 ? 0.085 : 0.565
        set rmargin at screen column_of == 0 ? 0.505 : 0.985
        set tmargin at screen top - row_of * height - part(22)
        set bmargin at screen top - (row_of + 1) * height + part(58)
        set xrange [panel_min[p]:panel_max[p]]
        eval panel_ticks[p]
        set title panel_title[p]
        y_text = column_of == 0 ? 'time per step (ms)' : ''
        set ylabel y_text
        if (p == 1) { eval show_title } else { eval hide_title; unset label 98 }
        set label 99 '' at panel_best_x[p], panel_best_ms[p] point pt 6 ps 1.7 lw 1.6 lc rgb '#000000' front
        eval 'plot '.(words(panel_references[p]) == 0 ? '' : reference_lines).panel
    }
    unset label 99
    unset logscale
    set border 0
    set xrange [-2:-1]
    set yrange [-2:-1]
    set lmargin at screen 0
    set rmargin at screen 1
    set tmargin at screen bottom
    set bmargin at screen 0
    set title ' '
    set ylabel ' '
    set key on
    eval key_plot
    unset multiplot
}
set output
