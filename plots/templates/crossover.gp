# From how many GPUs on the grid is faster than the flat ring, in a table of payload and batch.

heading = 'GPUs from which '.grid.' is faster than the flat '.ring
batches = ''
payloads = ''
stats data using (batches = add(batches, strcol('batch_per_gpu')), \
    payloads = add(payloads, strcol('precision').':'.strcol('payload_bytes').':'.strcol('gradient_scale')), \
    column('min_gpus')) name 'least' nooutput
stats data using (column('max_gpus')) name 'most' nooutput
stats data using (column('gradient_scale')) name 'scale' nooutput
stats data using (column('payload_bytes')) name 'payload' nooutput
eval bytes_unit
precisions = ''
stats data using (precisions = add(precisions, strcol('precision')), 0) nooutput
note = sprintf('%d to %d GPUs, grids at their best shape, darker: sooner', least_min, most_max)
note = note.sprintf(', second line: by %g %% of a step', 100 * clear_frac)

# Columns are batches in rising order, lines are payloads in the order of the file.
before(list, value) = int(sum [i = 1:words(list)] (word(list, i) + 0 < value ? 1 : 0))
column_of(z) = before(batches, column('batch_per_gpu'))
line_of(z) = place(payloads, strcol('precision').':'.strcol('payload_bytes').':'.strcol('gradient_scale')) - 1
is_ever(name) = strcol(name) ne ''
count_of(name) = !is_ever(name) ? 'never' : (column(name) == column('min_gpus') ? '<= ' : '').sprintf('%d', column(name))
clear_of(z) = sprintf('%g %%: %s', 100 * clear_frac, count_of('clear_gpus'))
shade(z) = !is_ever('from_gpus') ? 0 : most_max == least_min ? 1 : \
    1 - 0.85 * log(column('from_gpus') / least_min) / log(most_max / least_min)

picture_height = words(payloads) <= 8 ? 480 : 480 + 44 * (words(payloads) - 8)
set xlabel 'batch (samples per GPU)'
set ylabel 'gradients of one step ('.unit_name.')'
set xrange [-0.5:words(batches) - 0.5]
set yrange [-0.5:words(payloads) - 0.5]
set tics scale 0
unset grid
unset key
unset colorbox
set palette defined (0 '#FFFFFF', 1 '#009E73')
set cbrange [0:1]
set style fill solid 1.0 border lc rgb '#333333'
payload_of(z) = sprintf('%.4g', column('payload_bytes') / unit_scale).\
    (scale_min < scale_max ? sprintf(' (x%g)', column('gradient_scale')) : '').\
    (words(precisions) > 1 ? ' '.strcol('precision') : '')

points = values(0, 'column_of(0)', 'line_of(0)')
eval begin
plot data using (column_of(0)):(line_of(0)):(column_of(0) - 0.5):(column_of(0) + 0.5):(line_of(0) - 0.5):(line_of(0) + 0.5):\
        (shade(0)):xtic(strcol('batch_per_gpu')):ytic(payload_of(0)) with boxxyerror lc palette, \
    data using (column_of(0)):(line_of(0)):(count_of('from_gpus')) with labels offset 0, 0.45 font ',15', \
    data using (column_of(0)):(line_of(0)):(clear_of(0)) with labels offset 0, -0.75 font ',10' @points
eval finish
