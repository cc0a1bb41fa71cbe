# Errors of predictions: a line for each measured set, with nothing fitted, with all rows fitted, and of the largest node counts held out.

heading = 'How wrong predictions of measured collectives are'
note = 'median of |predicted / measured - 1| of the rows of a set; bars end at the 95th percentile of what was held out'
stats data using (100 * number('zero_shot_median_frac', 0.01)) name 'error' nooutput
sets_count = error_records
picture_height = 170 + 19 * sets_count

set xlabel 'error (%)'
set logscale x 10
set format x '%g'
set xrange [0.1:300]
set yrange [sets_count + 0.7:0.3]
set ytics scale 0 font ',11'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set key maxcols 3 samplen 1

percent(name) = strcol(name) eq '' ? NaN : 100 * column(name)
points = values(0, "percent('zero_shot_median_frac')", 'column(0) + 1').values(0, "percent('fit_median_frac')", 'column(0) + 1').\
    values(0, "percent('held_out_median_frac')", 'column(0) + 1')
eval begin
plot data using (percent('held_out_median_frac')):(column(0) + 1):(percent('held_out_p95_frac') - percent('held_out_median_frac')):(0) \
        with vectors nohead lw 2.2 lc rgb colour(3) notitle, \
    data using (percent('zero_shot_median_frac')):(column(0) + 1):ytic(strcol('set')) with points pt open_mark(1) ps 0.8 lw 1.4 lc rgb colour(1) notitle, \
    data using (percent('fit_median_frac')):(column(0) + 1) with points pt mark(2) ps 0.7 lc rgb colour(2) notitle, \
    data using (percent('held_out_median_frac')):(column(0) + 1) with points pt mark(3) ps 0.9 lc rgb colour(3) notitle, \
    keyentry with points pt open_mark(1) ps 0.8 lw 1.4 lc rgb colour(1) title 'nothing fitted', \
    keyentry with points pt mark(2) ps 0.7 lc rgb colour(2) title 'all fitted', \
    keyentry with points pt mark(3) ps 0.9 lc rgb colour(3) title 'largest node counts, held out' @points
eval finish
