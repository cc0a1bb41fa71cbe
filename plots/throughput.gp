# Images per second against GPUs, both axes logarithmic: the ideal is a straight line.

set label 101 'Training throughput'
set xlabel 'GPUs'
set ylabel 'images per second'
set logscale x 2
set logscale y 10
set xrange [x_min:x_max]
set yrange [y_min:y_max]

images(is_wanted) = is_wanted ? column('images_per_s') : NaN

plot ideal_images_per_s_per_gpu * x with lines lt (is_text ? 0 : 1) lw 2 lc rgb '#000000' dt 14 title 'ideal', \
    for [i = 1:algorithms_count] data using (column('gpus')):(images(of(i))) \
        with lines lt styles[i] lw 2.2 lc rgb colour(styles[i]) dt dash(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('gpus')):(images(of(i))) \
        with points pt mark(styles[i]) ps mark_size lc rgb colour(styles[i]) notitle, \
    for [i = 1:algorithms_count] data using (column('gpus')):(images(of(i))):\
        (inner_size(strcol('engine'))):(inner_colour(strcol('engine'), styles[i])) \
        with points pt mark(styles[i]) ps variable lc rgb variable notitle, \
    for [i = 1:algorithms_count] keyentry with linespoints lt styles[i] lw 2.2 \
        pt key_mark(styles[i]) ps mark_size lc rgb colour(styles[i]) dt dash(styles[i]) \
        title algorithms[i] @engine_key
eval finish
