# Curves against GPUs with the published points on them, and a table of the points.

set key at screen 0.5, screen key_y bottom center font ',11'
set tics font ',11'
set xlabel font ',12' offset 0, 0.7
set ylabel font ',12' offset 1, 0
set style textbox opaque fillcolor rgb '#FFFFFF' noborder margins 0.4, 0.4
curve_data = picture.'_curves.csv'

in_curve(i, name) = column('curve') == i ? column(name) : NaN
# Marks of the kinds: not measured, measured, measured but of a cluster without a model.
kind_mark(kind) = int(word('12 7 6', int(kind) + 1))
row_label(kind) = kind == 2 ? strcol('row') : strcol('number')
curve_colour(i) = colour(int(word(curves_colours, i)))
curve_dash(i) = dash(int(word(curves_dashes, i)))

curves = curves_count == 0 ? '' : "for [i = 1:curves_count] curve_data using (in_curve(i, 'gpus')):".\
    "(column('low')):(column('high')) with filledcurves fs transparent solid 0.15 noborder ".\
    "lc rgb curve_colour(i) notitle, ".\
    "for [i = 1:curves_count] curve_data using (in_curve(i, 'gpus')):(column('value')) ".\
    "with lines lw 2 lc rgb curve_colour(i) dt curve_dash(i) notitle, ".\
    "for [i = 1:curves_count] keyentry with lines lw 2 lc rgb curve_colour(i) dt curve_dash(i) ".\
    "title curves_names[i]"
points = points_count == 0 ? '' : "data using (column('x')):(column('y')):(column('leader_x')):".\
    "(column('leader_y')) with vectors nohead lw 0.7 lc rgb '#777777' notitle, ".\
    (predictions_count == 0 ? '' : "data using (column('x')):(column('predicted')):(column('low')):(column('high')) ".\
    "with yerrorbars pt 2 ps 0.6 lw 1.2 lc rgb '#555555' notitle, ").\
    "data using (column('label_x')):(column('label_y')):(row_label(column('kind'))) ".\
    "with labels boxed noenhanced font ',10' notitle, ".\
    "data using (column('x')):(column('y')):(0.8):(kind_mark(column('kind'))) ".\
    "with points ps variable pt variable lw 1.4 lc rgb '#000000' notitle, ".\
    "for [k in kinds] keyentry with points pt kind_mark(int(k)) ps 0.8 lw 1.4 lc rgb '#000000' title kind_names[int(k) + 1]".\
    (predictions_count == 0 ? '' : \
    ", keyentry with yerrorbars pt 2 ps 0.6 lw 1.2 lc rgb '#555555' title 'predicted, band'")

do for [pass = 1:2] {
    if (pass == 2) { eval to_png }
    set multiplot
    eval panel_setup
    eval show_title
    set key on
    eval 'plot '.curves.(curves_count > 0 && points_count > 0 ? ', ' : '').points
    if (points_count > 0) {
        eval table_setup
        eval table_plot
        eval table_end
    }
    unset multiplot
}
set output
