# Where the time of an iteration goes: one bar per algorithm, its parts in the order they happen.

heading = 'Breakdown of one iteration'
note = 'in brackets: efficiency'
stats data using (take_row(grouped(strcol('gpus')).' GPUs'), column('iteration_s')) name 'iteration' nooutput

parts = 'overhead_s forward_s backward_s exposed_s optimizer_s input_wait_s'
fills = '#EEEEEE '.fill_of('forward').' '.fill_of('backward').' '.fill_of('tp').' '.fill_of('optimizer').' '.fill_of('ep')
array part_name[6] = ['overhead', 'forward', 'backward', 'exposed communication', 'optimizer', 'waits for input']
shown = ''
do for [p = 1:6] {
    stats data using (number(word(parts, p), 0)) name 'one' nooutput
    if (one_max > 0) { shown = shown.' '.p }
}
part_ms(p) = 1e3 * number(word(parts, p), 0)
end_ms(p) = p == 0 ? 0 : sum [k = 1:int(p)] part_ms(k)
label_of(shape) = label_text(strcol('algorithm')).(strstrt(shape, 'x') > 0 ? ' '.shape : '')
text_of(z) = sprintf(iteration_max < 0.01 ? '%.3f ms (%.1f %%)' : '%.1f ms (%.1f %%)', \
    1e3 * column('iteration_s'), 100 * column('efficiency_frac'))
# Long names stand above their bars, so that there is room for bars.
longest = 0
stats data using (longest = strlen(label_of(strcol('shape'))) > longest ? strlen(label_of(strcol('shape'))) : longest, 0) nooutput
is_long = longest > 24
picture_height = 150 + (is_long ? 36 : 21) * (last_y < 8 ? 8 : last_y)
half = is_long ? 0.22 : 0.38
middle(z) = y_of_row(column(0)) + (is_long ? 0.18 : 0)
name_beside(shape) = is_long ? '' : label_of(shape)
name_above(shape) = is_long ? label_of(shape) : ''

set xlabel 'time of one iteration (ms)'
set xrange [0:1.38e3 * iteration_max]
set yrange [last_y + 0.7:0.3]
set ytics scale 0 font ',12'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set style fill solid 1.0 border lc rgb '#333333'
eval show_groups

points = values(0, 'end_ms(6) / 2', 'middle(0)')
eval begin
plot for [p in shown] data using (end_ms(p - 1)):(middle(0)):(end_ms(p - 1)):(end_ms(p)):\
        (middle(0) - half):(middle(0) + half):ytic(name_beside(strcol('shape'))) \
        with boxxyerror lc rgb word(fills, int(p)) title part_name[int(p)], \
    data using (0):(y_of_row(column(0)) - 0.26):(name_above(strcol('shape'))) with labels left offset character 0.6, 0 font ',11' notitle, \
    data using (end_ms(6)):(middle(0)):(text_of(0)) with labels left boxed offset character 0.7, 0 font ',12' notitle @points
eval finish
