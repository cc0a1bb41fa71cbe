# How time and memory of both programs grow with the ranks. Wants `data` (speed.csv) and `out`.

set encoding utf8
set datafile separator comma
set datafile columnheaders

set style line 1 lc rgb '#0072B2' lw 2.2 pt 7 ps 0.9
set style line 2 lc rgb '#D55E00' lw 2.2 pt 5 ps 0.9 dt (11,4)
set style line 3 lc rgb '#666666' lw 1.6 dt (2,3)
set border 3 lc rgb '#444444'
set tics nomirror out
set grid lt 1 lw 0.6 lc rgb '#D9D9D9'
set key top left reverse Left samplen 2.5
set lmargin 8
set tmargin 3

stats data using (column('ranks')) nooutput name 'ranks'
set logscale xy
set xrange [ranks_min / 1.25:ranks_max * 1.25]
ticks = ''
do for [k = 1:16] {
    ticks = ticks.(k > 1 ? ',' : '').sprintf('%d', 2 ** k)
}
eval 'set xtics ('.ticks.')'
set xlabel 'ranks'

# A ring of N ranks sends 2 (N-1) N messages. The best rate that any row reached gives the line that
# the times would follow if a message always cost the same.
stats data using (column('bare_cpu_s') / column('messages_count')) nooutput name 'message_s'
stats data using (column('bare_memory_bytes')) nooutput name 'bytes'
stats data using (column('engine_memory_bytes')) nooutput name 'engine_bytes'

do for [kind in 'png svg'] {
    if (kind eq 'png') {
        set terminal pngcairo size 1120, 470 font 'DejaVu Sans,11'
    } else {
        set terminal svg size 1120, 470 font 'DejaVu Sans,Helvetica,sans-serif,14'
    }
    set output out.'.'.kind
    set multiplot layout 1, 2
    set label 1 'Processor time of one ring all-reduce (s)' at graph 0, 1.06
    set format y '%g'
    set yrange [0.01:*]
    set ytics auto
    plot message_s_min * 2 * (x - 1) * x with lines ls 3 \
            title sprintf('%.2g µs per message', 1e6 * message_s_min), \
        data using (column('ranks')):(column('bare_cpu_s')) with linespoints ls 1 title 'bare SimGrid ring', \
        data using (column('ranks')):(column('engine_cpu_s')) with linespoints ls 2 title 'engine simgrid'
    set label 1 'Peak resident memory (MB)'
    set yrange [bytes_min / 2e6:engine_bytes_max * 1.6 / 1e6]
    set ytics (10, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
    plot data using (column('ranks')):(column('bare_memory_bytes') / 1e6) with linespoints ls 1 \
            title 'bare SimGrid ring', \
        data using (column('ranks')):(column('engine_memory_bytes') / 1e6) with linespoints ls 2 \
            title 'engine simgrid, both processes'
    unset multiplot
    set output
}
