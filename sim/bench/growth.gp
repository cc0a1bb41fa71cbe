# How time and memory grow with the ranks. Wants `out`, the folder of peers.csv, rates.csv and growth.csv, and
# draws of each a picture, .png and .svg.

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

rates_tics = "'10⁵' 1e5, '10⁶' 1e6, '10⁷' 1e7, '10⁸' 1e8, '10⁹' 1e9, '10¹⁰' 1e10, '10¹¹' 1e11, '10¹²' 1e12"
ranks_tics = "'64' 64, '256' 256, '1024' 1024, '4096' 4096, '16,384' 16384, '65,536' 65536"
eval 'set xtics ('.ranks_tics.')'

array programs[4] = ['recurrence', 'simgrid', 'bare', 'smpi']
array titles[4] = ['engine recurrence', 'engine simgrid', 'bare SimGrid ring', 'SMPI, allreduce lr']
peers = out.'/peers.csv'
# A run over the limit has no simulated time: left out.
of(i, x) = strcol('program') eq programs[i] && strlen(strcol('simulated_s')) > 0 ? x : NaN

array algorithms[7] = ['ring', 'torus2d', 'hierarchical', 'halving-doubling', 'swing', 'recursive-doubling', 'tree']
array shades[7] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#666666']
rate(i) = strcol('algorithm') eq algorithms[i] ? column('messages_count') / column('run_wall_s') : NaN

# One line for an operation by an algorithm; those by rings, by groups and by pairs have a colour each.
array clusters[3] = ['flat', 'dgx-h100', 'abci-v100']
array lines[13] = ['allreduce ring', 'allreduce torus2d', 'allreduce hierarchical', 'allgather ring', \
    'allreduce halving-doubling', 'reducescatter recursive-halving', 'allreduce tree', 'broadcast tree', 'reduce tree', \
    'gather binomial', 'scatter linear', 'alltoall pairwise', 'alltoall linear']
array colours[13] = ['#0072B2', '#0072B2', '#0072B2', '#0072B2', '#009E73', '#009E73', '#D55E00', '#D55E00', '#D55E00', \
    '#E69F00', '#E69F00', '#CC79A7', '#CC79A7']
array points[13] = [7, 5, 9, 6, 7, 5, 7, 5, 9, 7, 5, 7, 5]
grown(c, i) = strcol('cluster') eq clusters[c] && strcol('operation').' '.strcol('algorithm') eq lines[i] ? column('cpu_s') : NaN

# start NAME, WIDTH: the terminal of the present kind and its file
terminal = "set terminal %s size %d, 470 font 'DejaVu Sans,%s'; set output '%s/%s.%s'"
start(name, width) = kind eq 'png' ? sprintf(terminal, 'pngcairo', width, '11', out, name, kind) : \
    sprintf(terminal, 'svg', width, 'Helvetica,sans-serif,14', out, name, kind)

do for [kind in 'png svg'] {
    eval start('peers', 1500)
    set xrange [48:90000]
    set multiplot layout 1, 3
    set label 1 'Wall time of one ring all-reduce (s)' at graph 0, 1.06
    set format y '%g'
    set yrange [0.001:30000]
    set ytics auto
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('wall_s'))) \
        with linespoints ls i title titles[i]
    unset key
    set label 1 'Messages per second of processor time'
    set yrange [2e4:5e12]
    eval 'set ytics ('.rates_tics.')'
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('messages_count') / column('cpu_s'))) \
        with linespoints ls i title titles[i]
    set label 1 'Peak resident memory (MB)'
    set yrange [5:3000]
    set ytics (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    plot for [i = 1:4] peers using (column('ranks')):(of(i, column('memory_bytes') / 1e6)) \
        with linespoints ls i title titles[i]
    unset multiplot
    set output

    eval start('growth', 1700)
    set xrange [800:84000]
    set yrange [0.001:60]
    set ytics auto
    set multiplot layout 1, 4
    do for [c = 1:3] {
        set label 1 'Processor time on '.clusters[c].' (s)'
        plot for [i = 1:13] out.'/growth.csv' using (column('ranks')):(grown(c, i)) \
            with linespoints lc rgb colours[i] lw 2 pt points[i] ps 0.8 notitle, \
            x * 1e-6 with lines ls 5 notitle
    }
    unset label 1
    unset border
    unset tics
    unset xlabel
    set key at graph 0, 1 top left
    plot for [i = 1:13] NaN with linespoints lc rgb colours[i] lw 2 pt points[i] ps 0.8 title lines[i], \
        NaN with lines ls 5 title '1 us a rank'
    unset multiplot
    set output
    set border 3 lc rgb '#444444'
    set xlabel 'ranks'
    eval 'set xtics nomirror out ('.ranks_tics.')'

    eval start('rates', 760)
    set label 1 'Messages per second on one core where ranks differ, abci-v100' at graph 0, 1.06
    set yrange [2e7:1e11]
    eval 'set ytics nomirror out ('.rates_tics.')'
    set key default
    set key top left reverse Left samplen 2.5
    plot for [i = 1:7] out.'/rates.csv' using (column('ranks')):(rate(i)) \
        with linespoints lc rgb shades[i] lw 2.2 pt 2 * i + 3 ps 0.9 title algorithms[i]
    set output
}
