# Predicted against measured results, a panel for each kind of quantity, and a table of the rows.

title = 'Published results, predicted and measured'
set key at screen 0.5, screen key_y bottom center font ',11'
set tics font ',11'
set xlabel font ',12' offset 0, 0.6
set ylabel font ',12' offset 1, 0
set title font ',12' offset 0, -0.6
set style textbox opaque fillcolor rgb '#FFFFFF' noborder margins 0.4, 0.4

here(p, name) = column('panel') == p ? column(name) : NaN
point_mark(is_inside) = is_inside == 1 ? 7 : 12
point_colour(is_inside) = is_inside == 1 ? 0x0072B2 : 0xD55E00

set key off
do for [pass = 1:2] {
    if (pass == 2) { eval to_png }
    set multiplot
    do for [p = 1:panels_count] {
        eval panel_setup[p]
        if (p == 1) { eval show_title } else { eval hide_title }
        plot '+' using (panel_min[p]):(panel_min[p]):(panel_max[p] - panel_min[p]):\
                (panel_max[p] - panel_min[p]) every ::::0 with vectors nohead lw 1.4 lc rgb '#000000' dt 14 notitle, \
            data using (here(p, 'x')):(here(p, 'y')):(column('leader_x')):(column('leader_y')) \
                with vectors nohead lw 0.7 lc rgb '#777777' notitle, \
            data using (here(p, 'x')):(here(p, 'y')):(column('y_low')):(column('y_high')):\
                (point_colour(column('is_inside'))) with yerrorbars pt 0 lw 1.4 lc rgb variable notitle, \
            data using (here(p, 'label_x')):(column('label_y')):(strcol('number')) \
                with labels boxed font ',10' notitle, \
            data using (here(p, 'x')):(here(p, 'y')):(0.75):(point_mark(column('is_inside'))):\
                (point_colour(column('is_inside'))) with points ps variable pt variable lc rgb variable notitle
    }
    eval table_setup
    set key on
    eval table_plot.", keyentry with points pt 7 ps 0.75 lc rgb '#0072B2' title 'measured within the band', ".\
        "keyentry with points pt 12 ps 0.75 lc rgb '#D55E00' title 'outside', ".\
        "keyentry with lines lw 1.4 dt 14 lc rgb '#000000' title 'predicted = measured'"
    eval table_end
    unset multiplot
}
set output
