# How the programs grow with the ranks. Wants `peers` (peers.csv), `rates` (rates.csv) and `out`: draws
# out.png and out.svg (all programs) and out-rates.png and out-rates.svg (recurrence by algorithm).

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

set style line 1 lc rgb '#0072B2' lw 2.2 pt 7 ps 0.9
set style line 2 lc rgb '#D55E00' lw 2.2 pt 5 ps 0.9
set style line 3 lc rgb '#009E73' lw 2.2 pt 9 ps 1.0 dt (11,4)
set style line 4 lc rgb '#CC79A7' lw 2.2 pt 11 ps 1.0 dt (4,4)
set style line 5 lc rgb '#666666' lw 1.6 dt (2,3)
set border 3 lc rgb '#444444'
set tics nomirror out
set grid lt 1 lw 0.6 lc rgb '#D9D9D9'
set key top left reverse Left samplen 2.5
set lmargin 8
set rmargin 2
set tmargin 3
set logscale xy
set xlabel 'ranks'

rates_tics = "'10⁵' 1e5, '10⁶' 1e6, '10⁷' 1e7, '10⁸' 1e8, '10⁹' 1e9, '10¹⁰' 1e10"
ranks_tics = "'64' 64, '256' 256, '1024' 1024, '4096' 4096, '16,384' 16384, '65,536' 65536"
eval 'set xtics ('.ranks_tics.')'

array programs[4] = ['recurrence', 'simgrid', 'bare', 'smpi']
array titles[4] = ['engine recurrence', 'engine simgrid', 'bare SimGrid ring', 'SMPI, allreduce lr']
# A run over the limit has no simulated time: left out.
of(i, x) = strcol('program') eq programs[i] && strlen(strcol('simulated_s')) > 0 ? x : NaN

array algorithms[3] = ['ring', 'hierarchical', 'torus2d']
# Streams come as rows with more jobs than one.
rate(i, is_stream) = strcol('algorithm') eq algorithms[i] && (column('jobs_count') > 1) == is_stream \
    ? column('messages_count') / column('run_wall_s') : NaN

do for [kind in 'png svg'] {
    if (kind eq 'png') {
        set terminal pngcairo size 1500, 470 font 'DejaVu Sans,11'
    } else {
        set terminal svg size 1500, 470 font 'DejaVu Sans,Helvetica,sans-serif,14'
    }
    set xrange [48:90000]
    set output out.'.'.kind
    set multiplot layout 1, 3
    set label 1 'Wall time of one ring all-reduce (s)' at graph 0, 1.06
    set format y '%g'
    set yrange [0.005:30000]
    set ytics auto
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('wall_s'))) \
        with linespoints ls i title titles[i]
    unset key
    set label 1 'Messages per second of processor time'
    set yrange [2e4:5e9]
    eval 'set ytics ('.rates_tics.')'
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('messages_count') / column('cpu_s'))) \
        with linespoints ls i title titles[i]
    set label 1 'Peak resident memory (MB)'
    set yrange [10:3000]
    set ytics (10, 20, 50, 100, 200, 500, 1000, 2000)
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('memory_bytes') / 1e6)) \
        with linespoints ls i title titles[i]
    set key
    unset multiplot
    set output

    if (kind eq 'png') {
        set terminal pngcairo size 760, 470 font 'DejaVu Sans,11'
    } else {
        set terminal svg size 760, 470 font 'DejaVu Sans,Helvetica,sans-serif,14'
    }
    set output out.'-rates.'.kind
    set label 1 'Messages per second on one core, engine recurrence, abci-v100, two channels'
    set xrange [800:84000]
    set yrange [2e7:5e9]
    eval 'set ytics ('.rates_tics.')'
    set key bottom right width -2
    plot for [i = 1:3] rates using (column('ranks')):(rate(i, 1)) with lines ls i dt (3,3) notitle, \
        for [i = 1:3] rates using (column('ranks')):(rate(i, 0)) with linespoints ls i dt 1 title algorithms[i], \
        NaN with lines ls 5 title 'dotted: in a stream of 10⁹ messages'
    set key top left
    set output
}
