# Curves against GPUs, and the published points on them: of each row what was measured, and what is predicted for it.

note = 'lines: predicted; black marks: measured'
has_data = data ne ''
has_curves = exists('curve_data') && curve_data ne ''

counts = ''
least = 1e30
most = 0
gpus_min = 1e30
gpus_max = 0
take_value(gpus, value) = (counts = add(counts, gpus), least = value < least ? value : least, most = value > most ? value : most, \
    gpus_min = gpus + 0 < gpus_min ? gpus + 0 : gpus_min, gpus_max = gpus + 0 > gpus_max ? gpus + 0 : gpus_max)

# Curves of one algorithm have one colour; dashes tell them apart.
curves_count = 0
banded = '' # those with a band, as numbers
array curve_algorithm[100]
array curve_dash[100]
before(algorithm) = curves_count == 0 ? 0 : int(sum [i = 1:curves_count] (curve_algorithm[i] eq algorithm ? 1 : 0))
take_curve(curve, algorithm) = text_place(curve) > 0 ? 0 : \
    (curve_dash[texts_count + 1] = before(algorithm) + 1, curves_count = take_text(curve), curve_algorithm[curves_count] = algorithm)
if (has_curves) {
    stats curve_data using (take_algorithm(strcol('algorithm'), '', ''), take_curve(strcol('curve'), strcol('algorithm')), \
        strcol('low') eq '' ? 0 : (banded = add(banded, sprintf('%d', text_place(strcol('curve'))))), \
        take_value(strcol('gpus'), scale * number('low', column('value'))), \
        take_value(strcol('gpus'), scale * number('high', column('value'))), 0) nooutput
}
in_curve(i) = strcol('curve') eq texts[i]
curve_value(i, name) = in_curve(i) ? scale * number(name, column('value')) : NaN
curve_colour(i) = colour(style(curve_algorithm[i]))

# Of rows that are not measured, the mark is where they are predicted.
points_count = 0
predictions_count = 0
array point_name[100]
array point_mark[100]
is_measured(z) = strcol('measured') ne ''
is_predicted(z) = strcol('predicted') ne ''
point_value(z) = scale * (is_measured(0) ? column('measured') : column('predicted'))
predicted_value(name) = is_measured(0) && is_predicted(0) ? scale * number(name, column('predicted')) : NaN
# A prediction outside of its own band is tied to it.
nearest(z) = predicted_value('predicted') < predicted_value('low') ? predicted_value('low') : \
    predicted_value('predicted') > predicted_value('high') ? predicted_value('high') : NaN
bands_count = 0
take_point(row, is_both, remark) = (points_count = points_count + 1, predictions_count = predictions_count + is_both, \
    point_name[points_count] = row.remark, \
    point_mark[points_count] = (is_both ? mark(points_count) : open_mark(points_count)))
if (has_data) {
    stats data using (take_point(strcol('row'), is_measured(0) && is_predicted(0), \
        !is_measured(0) ? ' (not measured)' : !is_predicted(0) ? ' (no model)' : ''), take_value(strcol('gpus'), point_value(0)), \
        strcol('low') eq '' ? 0 : (bands_count = bands_count + 1), is_measured(0) && is_predicted(0) ? \
        (take_value(strcol('gpus'), scale * number('low', column('predicted'))), \
        take_value(strcol('gpus'), scale * number('high', column('predicted')))) : 0, 0) nooutput
}
is_point(i) = int(column(0)) == i - 1

picture_height = 440 + 17 * ceil((curves_count + points_count + 1) / 2.0)
set xlabel 'GPUs'
set ylabel quantity
set logscale x 2
if (is_log) {
    set logscale y 10
    set format y '%g'
    low = least / 1.3
    high = most * 1.3
    eval between_ticks('ytics')
} else {
    low = least - 0.05 * (most - least)
    low = low < 0 ? 0 : low
    high = most + 0.05 * (most - least)
}
set yrange [low:high]
low = gpus_min / 1.3
high = gpus_max * 1.3
set xrange [low:high]
eval count_ticks
set key maxcols 2 samplen 2 width 0 font ',11'

band_plots = words(banded) == 0 ? '' : "for [i in banded] curve_data using (column('gpus')):".\
    "(curve_value(int(i), 'low')):(curve_value(int(i), 'high')) ".\
    "with filledcurves fs transparent solid 0.15 noborder lc rgb curve_colour(int(i)) notitle, "
curve_plots = !has_curves ? '' : band_plots."for [i = 1:curves_count] curve_data using (column('gpus')):(curve_value(i, 'value')) ".\
    "with lines lw 2 lc rgb curve_colour(i) dt dash(curve_dash[i]) title texts[i]"
point_plots = !has_data ? '' : (has_curves ? ', ' : '').(predictions_count == 0 ? '' : \
    "data using (column('gpus')):(predicted_value('predicted')):(predicted_value('low')):(predicted_value('high')) ".\
    "with yerrorbars pt 2 ps 0.6 lw 1.2 lc rgb '#555555' title 'predicted'.(bands_count > 0 ? ', with band' : ''), ".\
    "data using (column('gpus')):(predicted_value('predicted')):(0):(nearest(0) - predicted_value('predicted')) ".\
    "with vectors nohead lw 1.2 dt 14 lc rgb '#555555' notitle, ").\
    "for [i = 1:points_count] data using (column('gpus')):(is_point(i) ? point_value(0) : NaN) ".\
    "with points pt point_mark[i] ps 0.8 lw 1.4 lc rgb '#000000' title point_name[i]"
eval begin
eval 'plot '.curve_plots.point_plots.(has_curves ? values(1, "column('gpus')", "scale * column('value')") : '').\
    (has_data ? values(0, "column('gpus')", 'point_value(0)') : '')
eval finish
