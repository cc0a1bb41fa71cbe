# Which algorithm is the fastest, in a map of payload and GPUs; a number says how many times as long the next slower one takes.

eval take_rows
eval take_operation
heading = 'The fastest '.operation
counts = ''
payloads = ''
stats data using (counts = add(counts, strcol('gpus')), payloads = add(payloads, strcol('payload_bytes')), \
    column('gpus')) name 'gpus' nooutput
same_rows = 0
stats data using (same_rows = same_rows + column('same_count'), 0) nooutput
note = (note eq '' ? '' : 'best shapes, ').'number: time of the next slower one over it'.\
    (same_rows > 0 ? ', =: a tie' : '').(approximate_rows > 0 ? ', ~: approximate' : '')
approximate_rows = 0 # which have no open marks here

# Columns are payloads, lines GPU counts, in rising order.
before(list, value) = int(sum [i = 1:words(list)] (word(list, i) + 0 < value ? 1 : 0))
column_of(z) = before(payloads, column('payload_bytes'))
line_of(z) = before(counts, column('gpus'))
size_text(bytes, unit, name) = sprintf('%.4g %s', bytes / unit, name)
payload_of(bytes) = bytes >= 2.0**30 ? size_text(bytes, 2.0**30, 'GiB') : bytes >= 2.0**20 ? size_text(bytes, 2.0**20, 'MiB') : \
    bytes >= 1024 ? size_text(bytes, 1024.0, 'KiB') : size_text(bytes, 1.0, 'B')
decimal_of(bytes) = bytes >= 1e9 ? size_text(bytes, 1e9, 'GB') : bytes >= 1e6 ? size_text(bytes, 1e6, 'MB') : \
    bytes >= 1e3 ? size_text(bytes, 1e3, 'kB') : size_text(bytes, 1.0, 'B')
is_binary = 1
stats data using (is_binary = is_binary && (column('payload_bytes') < 1024 || int(column('payload_bytes')) % 1024 == 0), 0) nooutput
factor(z) = column('next_s') / column('allreduce_s')
factor_text(z) = (strcol('exact') eq 'no' ? '~' : '').(factor(0) != factor(0) ? '' : \
    sprintf(factor(0) < 1.095 ? '%.2f' : factor(0) < 9.95 ? '%.1f' : '%.0f', factor(0))).(column('same_count') > 0 ? '=' : '')
# Text is black on light colours and white on dark ones.
light(c) = 0.299 * (c / 65536) + 0.587 * (c / 256 % 256) + 0.114 * (c % 256)
ink(name) = light(colour(style(name))) > 125 ? 0x000000 : 0xFFFFFF

picture_height = 200 + 27 * (words(counts) < 6 ? 6 : words(counts))
set xlabel 'payload'
set ylabel 'GPUs'
set xrange [-0.5:words(payloads) - 0.5]
set yrange [-0.5:words(counts) - 0.5]
set tics scale 0
unset grid
set xtics font ',11'
if (words(payloads) > 12) { set xtics rotate by 45 right }
set xtics (); set ytics ()
do for [p in payloads] { set xtics add ((is_binary ? payload_of(p + 0) : decimal_of(p + 0)) before(payloads, p + 0)) }
do for [n in counts] { set ytics add (grouped(n) before(counts, n + 0)) }
set style fill solid 1.0 border lc rgb '#FFFFFF'

points = values(0, 'column_of(0)', 'line_of(0)')
eval begin
plot data using (column_of(0)):(line_of(0)):(column_of(0) - 0.5):(column_of(0) + 0.5):(line_of(0) - 0.5):(line_of(0) + 0.5):\
        (colour(style(strcol('algorithm')))) with boxxyerror lc rgb variable notitle, \
    data using (column_of(0)):(line_of(0)):(factor_text(0)):(ink(strcol('algorithm'))) with labels tc rgb variable font ',11' notitle, \
    for [name in algorithms] keyentry with boxes lc rgb colour(style(name)) title name @points
eval finish
