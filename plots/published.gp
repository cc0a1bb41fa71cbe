# Curves against GPUs with the published points on them, and a table of the points.

set key at screen 0.5, screen key_y bottom center font ',11'
set tics font ',11'
set xlabel font ',12' offset 0, 0.7
set ylabel font ',12' offset 1, 0
set style textbox opaque fillcolor rgb '#FFFFFF' noborder margins 0.4, 0.4
curve_data = picture.'_curves.csv'

in_curve(i, name) = column('curve') == i ? column(name) : NaN
point_mark(is_measured) = is_measured == 1 ? 7 : 6

curves = curves_count == 0 ? '' : "for [i = 1:curves_count] curve_data using (in_curve(i, 'gpus')):".\
    "(column('low')):(column('high')) with filledcurves fs transparent solid 0.15 noborder ".\
    "lc rgb colour(i) notitle, ".\
    "for [i = 1:curves_count] curve_data using (in_curve(i, 'gpus')):(column('value')) ".\
    "with lines lw 2 lc rgb colour(i) dt dash(i) notitle, ".\
    "for [i = 1:curves_count] keyentry with lines lw 2 lc rgb colour(i) dt dash(i) title curves_names[i]"
points = points_count == 0 ? '' : "data using (column('x')):(column('y')):(column('leader_x')):".\
    "(column('leader_y')) with vectors nohead lw 0.7 lc rgb '#777777' notitle, ".\
    "data using (column('x')):(column('predicted')):(column('low')):(column('high')) ".\
    "with yerrorbars pt 2 ps 0.6 lw 1.2 lc rgb '#555555' notitle, ".\
    "data using (column('label_x')):(column('label_y')):(strcol('number')) with labels boxed font ',10' notitle, ".\
    "data using (column('x')):(column('y')):(0.8):(point_mark(column('is_measured'))) ".\
    "with points ps variable pt variable lw 1.4 lc rgb '#000000' notitle, ".\
    "keyentry with points pt 7 ps 0.8 lc rgb '#000000' title 'measured', ".\
    "keyentry with points pt 6 ps 0.8 lw 1.4 lc rgb '#000000' title 'context, not measured', ".\
    "keyentry with yerrorbars pt 2 ps 0.6 lw 1.2 lc rgb '#555555' title 'predicted, band'"

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
