# Change of each prediction by each assumption: a panel of bars for each row, all to one scale.

title = 'What the predictions depend on'
set key off
set style fill solid 1.0 border lc rgb '#333333'
set title noenhanced font ',10' offset 0, -0.7
set xrange [x_min:x_max]
set xtics x_step scale 0 font ',9'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
unset ytics
set yzeroaxis lt 1 lw 1.2 lc rgb '#333333'
half = 0.36

here(p, name) = column('panel') == p ? column(name) : NaN
bar_colour(percent) = percent < 0 ? 0x56B4E9 : 0xE69F00
side(percent, wanted) = (percent < 0) == wanted ? bar_changes[int(column('bar'))] : ''

do for [pass = 1:2] {
    if (pass == 2) { eval to_png }
    set multiplot
    do for [p = 1:panels_count] {
        eval panel_setup[p]
        if (p == 1) { eval show_title } else { eval hide_title }
        plot data using (here(p, 'percent')):(column('line')):(0):(column('percent')):\
                (column('line') - half):(column('line') + half):(bar_colour(column('percent'))) \
                with boxxyerror lc rgb variable, \
            data using (here(p, 'percent')):(column('line')):(side(column('percent'), 1)) \
                with labels right noenhanced font ',9' offset character -0.5, 0, \
            data using (here(p, 'percent')):(column('line')):(side(column('percent'), 0)) \
                with labels left noenhanced font ',9' offset character 0.5, 0, \
            data using (here(p, 'x_min')):(column('line')):(bar_values[int(column('bar'))]) \
                with labels right noenhanced font ',9' offset character -0.7, 0, \
            data using (here(p, 'x_min')):(column('name_line')):(bar_names[int(column('bar'))]) \
                with labels left noenhanced font ',9' offset graph name_offset, 0
    }
    unset multiplot
}
set output
