# From how many GPUs on the grid is faster than the flat ring, in a table of payload and batch.

set label 101 'GPUs from which torus2d is faster than the flat ring'
set xlabel 'batch (images per GPU)'
set ylabel 'gradients per step (payload)'
set xrange [-0.5:columns - 0.5]
set yrange [-0.5:lines - 0.5]
set tics scale 0
unset grid
unset key
unset colorbox
set bmargin at screen 0.145
set palette defined (0 '#FFFFFF', 1 '#0072B2')
set cbrange [0:1]
set style fill solid 1.0 border lc rgb '#333333'

half = 0.5
in_shade(is_dark) = column('is_dark') == is_dark ? strcol('text') : ''
clear_in_shade(is_dark) = has_clear && column('is_dark') == is_dark ? strcol('clear_text') : ''

plot data using (column('column')):(column('line')):(column('column') - half):(column('column') + half):\
        (column('line') - half):(column('line') + half):(column('shade_frac')) \
        with boxxyerror lc palette, \
    data using (column('column')):(column('line')):(in_shade(0)) with labels font ',15' tc rgb '#000000', \
    data using (column('column')):(column('line')):(in_shade(1)) with labels font ',15' tc rgb '#FFFFFF', \
    data using (column('column')):(column('line')):(clear_in_shade(0)) \
        with labels font ',10' tc rgb '#000000' offset 0, -1, \
    data using (column('column')):(column('line')):(clear_in_shade(1)) \
        with labels font ',10' tc rgb '#FFFFFF' offset 0, -1
eval finish
