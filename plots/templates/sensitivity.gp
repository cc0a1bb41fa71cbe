# Change of each prediction by one other assumption: a bar for each of the largest changes, by the rows they are of.

heading = 'What the predictions depend on'
note = 'the largest changes of any prediction when one assumption has another value; sensitivity.csv has all'
stats data using (take_row(strcol('row')), 100 * column('change_frac')) name 'change' nooutput
picture_height = 150 + 17 * last_y
least = change_min < 0 ? change_min : 0
most = change_max > 0 ? change_max : 0

set xlabel 'change of the prediction (%)'
set xrange [least - 0.14 * (most - least):most + 0.14 * (most - least)]
set yrange [last_y + 0.7:0.3]
set ytics scale 0 font ',11'
unset grid
set grid xtics lt 1 lw 0.6 lc rgb '#D9D9D9'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lt 1 lw 1.2 lc rgb '#333333'
set style fill solid 1.0 border lc rgb '#333333'
unset key
eval show_groups

# Keys in words: what is known by name, and of others what stands behind set. or term., without dots.
assumptions = 'batch baseline bucket channels shape set.net.latency set.net.bandwidth set.hca.bandwidth set.nvlink.latency '.\
    'set.nvlink.bandwidth term.compute.scale term.contention.sms term.jitter window'
array key_words[14] = ['batch of', '100 % is one', 'buckets:', 'channels:', 'grid', 'network latency', 'network bandwidth', \
    'bandwidth of an HCA', 'NVLink latency', 'NVLink bandwidth', 'compute times x', 'processors taken by all-reduces:', 'jitter', \
    'messages in flight:']
blank(text) = strstrt(text, '.') > 0 ? substr(text, 1, strstrt(text, '.') - 1).' '.substr(text, strstrt(text, '.') + 1, -1) : text
without(text, head) = strstrt(text, head) == 1 ? substr(text, strlen(head) + 1, -1) : text
words_of(key) = has(assumptions, key) ? key_words[place(assumptions, key)] : blank(blank(blank(without(without(key, 'set.'), 'term.'))))
half = 0.38
percent(z) = 100 * column('change_frac')
bar_colour(value) = value < 0 ? 0x74869F : 0xF0E442
end_of(is_below) = (percent(0) < 0) == is_below ? percent(0) : NaN
points = values(0, 'percent(0) / 2', 'y_of_row(column(0))')
eval begin
plot data using (percent(0)):(y_of_row(column(0))):(0):(percent(0)):(y_of_row(column(0)) - half):(y_of_row(column(0)) + half):\
        (bar_colour(percent(0))):ytic(cut(words_of(strcol('assumption')).' '.strcol('value'), 44)) with boxxyerror lc rgb variable, \
    data using (end_of(1)):(y_of_row(column(0))):(sprintf('%+.2g %%', percent(0))) with labels right boxed noenhanced font ',10' offset character -0.5, 0, \
    data using (end_of(0)):(y_of_row(column(0))):(sprintf('%+.2g %%', percent(0))) with labels left boxed noenhanced font ',10' offset character 0.5, 0 @points
eval finish
