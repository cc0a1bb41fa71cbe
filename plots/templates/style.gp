# Shared by all pictures: reading, lists, colours, marks, ticks, title and key, terminals.
# A script is the settings that Allreckon writes (picture, data, facts, ...), this file, and a template. A template
# looks at its data with `stats`, says `heading`, `note` and `picture_height`, and then: eval begin, plot, eval finish.

set encoding utf8
set datafile separator comma
set datafile columnheaders

# --- lists: names are words of a text ------------------------------------------------------------
has(list, name) = strstrt(' '.list.' ', ' '.name.' ') > 0
add(list, name) = has(list, name) ? list : list.' '.name
# The text with `b` for each `a`.
changed(text, a, b) = strstrt(text, a) > 0 ? substr(text, 1, strstrt(text, a) - 1).b.changed(substr(text, strstrt(text, a) + strlen(a), -1), a, b) : text
# A whole number with a comma before each three digits, as text.
grouped(n) = strlen(n) > 3 ? grouped(substr(n, 1, strlen(n) - 3)).','.substr(n, strlen(n) - 2, strlen(n)) : n
place(list, name) = words(substr(' '.list, 1, strstrt(' '.list.' ', ' '.name.' '))) + 1

# --- colours and marks ---------------------------------------------------------------------------
# An algorithm has one style in all pictures. The colours of Okabe and Ito, which come first, are told apart with any colour
# vision; dashes and marks repeat the distinction for print in grey. Algorithms that are not named here take the later styles.
# Names that share one are of different operations.
palette_names = 'ring torus2d hierarchical tree halving-doubling recursive-doubling direct swing blueconnect in-network '.\
    'node-swing collnet-direct recursive-halving bruck neighbour linear pairwise two-level binomial scatter-allgather '.\
    'reducescatter-gather chain message'
palette_styles = '1 2 3 4 5 6 7 8 9 10 11 12 6 8 5 7 2 3 6 5 5 1 1'
palette_colours = '0x0072B2 0x009E73 0xD55E00 0xCC79A7 0xE69F00 0x56B4E9 0x1B1F8A 0x882255 0x999933 0x000000 0x6B3A00 0x6A3D9A'
marks = '7 9 5 13 11 15'
set dashtype 11 (11,4)
set dashtype 12 (5,4)
set dashtype 13 (11,3,2,3)
set dashtype 14 (2,3)
dashes = '1 11 13 12'
turn(k) = (k - 1) / words(palette_colours) # how often all colours have been used before
colour(k) = int(word(palette_colours, (k - 1) % words(palette_colours) + 1))
dash(k) = int(word(dashes, (k - 1 + turn(k)) % words(dashes) + 1))
mark(k) = int(word(marks, (k - 1 + turn(k)) % words(marks) + 1))
open_mark(k) = mark(k) - 1

# Parts of a step. Light and dark alternate, so that neighbours differ in print in grey too; those that are sent are neither light nor
# dark, so that they are seen on a dark page, too, which turns lightness.
part_names = 'forward backward optimizer tp cp ep pp dp'
part_colours = '#C3CEDD #74869F #444444 #E0C000 #56B4E9 #CC79A7 #B8860B #009E73'
fill_of(part) = word(part_colours, place(part_names, part))

# The algorithms of a file, in its order; which of them are approximate, and their shapes, as NAME:SHAPE.
algorithms = ''
others = ''
shapes = ''
exact_names = '' # those with an exact row
approximate_rows = 0
take_algorithm(name, exact, shape) = (algorithms = add(algorithms, name), \
    others = has(palette_names, name) ? others : add(others, name), \
    shapes = add(shapes, name.':'.shape), \
    exact eq 'no' ? (approximate_rows = approximate_rows + 1) : (exact_names = add(exact_names, name)))
take_rows = "stats data using (take_algorithm(strcol('algorithm'), strcol('exact'), strcol('shape'))) nooutput; ".\
    "note = words(shapes) > words(algorithms) ? 'each algorithm at its best shape' : ''"
style(name) = has(palette_names, name) ? int(word(palette_styles, place(palette_names, name))) : \
    words(palette_colours) + place(others, name)

# Filled marks are exact, open ones approximate; the subtitle says so where a picture has both. In the key an algorithm
# has the mark of its rows, the open one if there is no other.
row_mark(k, exact) = exact eq 'no' ? open_mark(k) : mark(k)
key_mark(name) = has(exact_names, name) ? mark(style(name)) : open_mark(style(name))

# The operation of the rows, as people say it; files without that column are of all-reduces.
operation_words = 'allreduce all-reduce reducescatter reduce-scatter allgather all-gather alltoall all-to-all'
spoken(command) = command eq '' ? 'all-reduce' : \
    has(operation_words, command) ? word(operation_words, place(operation_words, command) + 1) : command
operation = ''
take_operation = "stats data using (operation = spoken(strcol('operation')), 0) nooutput"

# A name in the key has its shape if all its rows have the same.
is_shape_of(name, entry) = strstrt(entry, name.':') == 1 ? 1 : 0
shapes_count(name) = int(sum [i = 1:words(shapes)] is_shape_of(name, word(shapes, i)))
shape_place(name) = int(sum [i = 1:words(shapes)] (is_shape_of(name, word(shapes, i)) ? i : 0))
shape_only(name) = substr(word(shapes, shape_place(name)), strlen(name) + 2, -1)
label_text(name) = changed(changed(name, '+', ', '), '~', ' ')
key_name(name) = shapes_count(name) != 1 || shape_only(name) eq '-' || shape_only(name) eq '' ? label_text(name) : label_text(name).' '.shape_only(name)

# Curves of all algorithms over x: the template defines x_of(0) and y_of(0), to be used within `using`.
of(name) = strcol('algorithm') eq name
curves = "for [name in grey_names.' '.bright_names] data using (x_of(0)):(of(name) ? y_of(0) : NaN):(row_mark(style(name), strcol('exact'))) ".\
    "with linespoints lt style(name) lw line_width(name) pt variable ps mark_size lc rgb line_colour(name) dt dash(style(name)) notitle"
key_entries = ", for [name in algorithms] keyentry with linespoints lt style(name) lw 2.2 pt key_mark(name) ps mark_size ".\
    "lc rgb colour(style(name)) dt dash(style(name)) title key_name(name)"
mark_size = 0.7

# Curves have their names at their ends. In colour are ring and torus2d, and of the others the best ones at the end until there are three,
# and where `has_best_start` the best one at the beginning; up to five names are all in colour. A curve that ends before the others is named in the corner, with its end. Names that are too long are
# in a key. The template says x_of(0), y_of(0) and `is_low_best`,
# then, before it sets ranges, eval take_ends, and behind them, with the `low` and `high` of a y axis, logarithmic or not, eval name_ends.
name_length = 24
grey_names = ''
bright_names = ''
line_colour(name) = has(grey_names, name) ? 0xB0B0B0 : colour(style(name))
line_width(name) = has(grey_names, name) ? 1.4 : 2.4
array end_x[40]
array end_y[40]
array end_place[40]
is_better(a, b) = end_x[a] > end_x[b] || (end_x[a] == end_x[b] && (is_low_best ? end_y[a] < end_y[b] : end_y[a] > end_y[b]))
take_end(x, y) = x > end_of_x ? (end_of_x = x, end_of_y = y) : 0
longest = 0
has_best_start = 0
start_x = 1e300
take_start(name, x, y) = x < start_x || (x == start_x && (is_low_best ? y < start_y : y > start_y)) ? \
    (start_x = x, start_y = y, start_name = name) : 0
take_ends = "do for [k = 1:words(algorithms)] { name = word(algorithms, k); end_of_x = -1e300; ".\
    "stats data using (of(name) ? take_end(x_of(0), y_of(0)) : 0) nooutput; end_x[k] = end_of_x; end_y[k] = end_of_y; ".\
    "if (strlen(key_name(name)) > longest) { longest = strlen(key_name(name)) } }; ".\
    "bright_names = words(algorithms) <= 5 || longest > name_length ? algorithms : ''; ".\
    "do for [name in 'ring torus2d'] { if (has(algorithms, name)) { bright_names = add(bright_names, name) } }; ".\
    "do for [n = 1:3] { if (words(bright_names) < 3) { best = 0; do for [k = 1:words(algorithms)] { ".\
    "if (!has(bright_names, word(algorithms, k))) { if (best == 0) { best = k } else { if (is_better(k, best)) { best = k } } } }; ".\
    "bright_names = best > 0 ? add(bright_names, word(algorithms, best)) : bright_names } }; ".\
    "if (has_best_start) { stats data using (take_start(strcol('algorithm'), x_of(0), y_of(0)), 0) nooutput; bright_names = add(bright_names, start_name) }; ".\
    "do for [name in algorithms] { if (!has(bright_names, name)) { grey_names = add(grey_names, name) } }"
is_log_y = 0
height_of(y) = is_log_y ? log(y / low) / log(1.0 * high / low) : (y - low) / (high - low)
is_at_end(k) = end_x[k] > 0.999 * end_max
name_room = 0.042 # of the height of the picture, for a name
# Names at the end of the axis, from the top down; then, from the bottom up, those that would be too low are raised.
name_ends = "end_max = end_x[1]; do for [k = 1:words(algorithms)] { if (end_x[k] > end_max) { end_max = end_x[k] } }; ".\
    "placed = ''; room = 1; do for [n = 1:words(algorithms)] { top = 0; do for [k = 1:words(algorithms)] { ".\
    "if (is_at_end(k) && !has(placed, ''.k)) { if (top == 0) { top = k } else { if (end_y[k] > end_y[top]) { top = k } } } }; ".\
    "if (top > 0) { placed = add(placed, ''.top); end_place[top] = height_of(end_y[top]) < room ? height_of(end_y[top]) : room; ".\
    "room = end_place[top] - name_room } }; room = 0; ".\
    "do for [n = words(placed):1:-1] { k = int(word(placed, n)); if (end_place[k] < room) { end_place[k] = room }; room = end_place[k] + name_room }; ".\
    "if (longest <= name_length) { key_entries = ''; unset key; set rmargin at screen 1 - (7.4 * longest + 16) / 720; do for [k = 1:words(algorithms)] { ".\
    "name = word(algorithms, k); if (is_at_end(k)) { set label 400 + k key_name(name) at graph 1.012, graph end_place[k] left noenhanced font ',12' tc rgb name_colour(name); ".\
    "if (abs(end_place[k] - height_of(end_y[k])) > 0.01) { set arrow 400 + k from end_x[k], end_y[k] to graph 1.01, graph end_place[k] ".\
    "nohead lw 0.6 lc rgb name_colour(name) } } ".\
    "else { short_count = short_count + 1; set label 400 + k sprintf('%s: to %g', key_name(name), end_x[k]) ".\
    "at graph 0.06, graph 0.052 * short_count - 0.02 left noenhanced font ',11' tc rgb name_colour(name) front } } } ".\
    "else { key_lines = words(algorithms); picture_height = picture_height + (key_lines > 4 ? 18 * (key_lines - 4) : 0) }"
short_count = 0
name_colour(name) = has(grey_names, name) ? 0x707070 : colour(style(name))

# Values that a page shows of the point under the pointer: told `has_values`, gnuplot marks the places of rows, of which Allreckon makes
# their values. `part` is 0 for data and 1 for curve_data; x and y are expressions. The marks are seen by nobody.
has_values = exists('has_values') ? has_values : 0
# (gnuplot 5.4 crashes if all of them is one undefined point: such a one is put out of sight).
place_of(x) = x == x ? x : 1e300
values(part, x, y) = !has_values ? '' : (part == 0 ? ', data' : ', curve_data').' using (place_of('.x.')):(place_of('.y.')):'.\
    '(sprintf("'.part.':%d", column(0))) noautoscale '.\
    "with labels hypertext point pt 7 ps 2 lc rgb '#FF000000' notitle"
curves = curves.values(0, 'x_of(0)', 'y_of(0)')

# Texts with blanks, numbered in order of appearance.
array texts[200]
texts_count = 0
text_place(text) = texts_count == 0 ? 0 : int(sum [i = 1:texts_count] (texts[i] eq text ? i : 0))
take_text(text) = text_place(text) > 0 ? text_place(text) : (texts_count = texts_count + 1, texts[texts_count] = text, texts_count)

# A number of a cell, or another one if the cell is empty.
number(name, otherwise) = strcol(name) eq '' ? otherwise : column(name)
cut(text, size) = strlen(text) > size ? substr(text, 1, size - 1).'…' : text

# Series of compared calls, one for each operation and number of nodes and GPUs; more than 12 cannot be told apart.
operations = ''
series_of = "(words(operations) > 1 ? spoken(strcol('operation')).', ' : '').sprintf('%s GPUs (%d node%s)', grouped(strcol('gpus')), column('nodes'), column('nodes') == 1 ? '' : 's')"
fitted_rows = 0
array is_fitted[200]
take_call(text, set) = (is_fitted[take_text(text)] = set eq 'fitted', fitted_rows = fitted_rows + (set eq 'fitted'))
take_series = "stats data using (operations = add(operations, strcol('operation') eq '' ? 'allreduce' : strcol('operation')), 0) nooutput; ".\
    "operation = words(operations) > 1 ? 'call' : spoken(word(operations, 1)); ".\
    "stats data using (take_call(@series_of, strcol('set')), 0) nooutput; ".\
    "series_count = texts_count > 12 ? 12 : texts_count; ".\
    "series_note = texts_count > 12 ? sprintf(', the first 12 of %d series; compare.csv has all', texts_count) : ''"
in_series(i) = @series_of eq texts[i]
# Numbers of GPUs are no algorithms and have none of their colours: from dark to light as they grow (after Cividis).
series_colours = '0x00204D 0x31446B 0x666970 0x958F78 0xB3A062 0xC9A227'
channel(k, place) = int(int(word(series_colours, k)) / 256 ** place) % 256
between(x, place) = int((1 - x + floor(x)) * channel(1 + int(x), place) + (x - floor(x)) * channel(x < 5 ? 2 + int(x) : 6, place))
series_colour(i) = (x = series_count < 2 ? 0.0 : 5.0 * (i - 1) / (series_count - 1), \
    65536 * between(x, 2) + 256 * between(x, 1) + between(x, 0))
series_mark(i) = is_fitted[i] ? open_mark(i) : mark(i)
series_name(i) = texts[i].(fitted_rows == 0 ? '' : is_fitted[i] ? ', fitted' : ', held out')

# --- ticks ---------------------------------------------------------------------------------------
# At the counts of a list, or the shapes, unless too close to one before; the axis is logarithmic, from `low` to `high`, and
# has room for so many:
ticks_max = 13
is_near(a, b) = abs(log(a) - log(b)) < log(1.0 * high / low) / ticks_max
grid_x(shape) = strstrt(shape, 'x') > 1 ? real(substr(shape, 1, strstrt(shape, 'x') - 1)) : NaN
is_free(list, value) = words(list) == 0 || int(sum [i = 1:words(list)] (is_near(word(list, i) + 0, value) ? 1 : 0)) == 0
count_ticks = "ticked = ''; set xtics (); do for [count in counts] { if (is_free(ticked, count + 0)) ".\
    "{ ticked = ticked.' '.count; set xtics add (grouped(count) count + 0) } }"
shape_ticks = "ticked = ''; set xtics (); do for [shape in ticks] { if (is_free(ticked, grid_x(shape))) ".\
    "{ ticked = ticked.' '.sprintf('%d', grid_x(shape)); set xtics add (shape grid_x(shape)) } }"
# On a long logarithmic axis every second power of ten; on a short one, 2 and 5 between them; on a shorter one, more.
between_ticks(axis) = high / low > 1e7 ? 'set '.axis.' 100; unset m'.axis : high / low > 200 ? '' : (high / low > 8 ? '' : 'unset m'.axis.'; ')."do for [e = floor(log10(low)):floor(log10(high))] { do for [m in '".\
    (high / low > 8 ? '1 2 5' : '1 1.2 1.5 2 2.5 3 4 5 6 8')."'] { set ".axis." add (m * 10.0 ** e) } }"

# Payloads in one unit: that of the middle of their axis.
bytes_unit = "unit_exponent = 3 * int(log10(sqrt(1.0 * payload_min * payload_max)) / 3); ".\
    "unit_exponent = unit_exponent > 9 ? 9 : unit_exponent; unit_scale = 10.0 ** unit_exponent; ".\
    "unit_name = word('B kB MB GB', 1 + unit_exponent / 3)"

# --- rows of bars or marks, from the top, with a heading above each group ---------------------------
array row_y[400]
array group_name[100]
array group_y[100]
rows = 0
groups = 0
last_y = 0
take_row(group) = (rows = rows + 1, \
    groups > 0 && group_name[groups > 0 ? groups : 1] eq group ? (last_y = last_y + 1) : \
    (groups = groups + 1, last_y = last_y + 2, group_name[groups] = group, group_y[groups] = last_y - 1), row_y[rows] = last_y)
y_of_row(i) = row_y[int(i) + 1]
show_groups = "do for [g = 1:groups] { set label 200 + g group_name[g] at graph 0, first group_y[g] left ".\
    "offset character 0.6, 0 noenhanced front boxed font ',13' }"

# --- title, key and terminals ----------------------------------------------------------------------
picture_height = 480
heading = exists('heading') ? heading : ''
note = ''
text_font = 'DejaVu Sans,Helvetica,Arial,sans-serif'
set border lw 1.2 lc rgb '#333333'
set tics nomirror tc rgb '#222222'
set grid lt 1 lw 0.6 lc rgb '#D9D9D9'
set style textbox opaque noborder fillcolor rgb '#FFFFFF' margins 0.3, 0.3 # lines do not strike through labels
set rmargin 3.5
set key title ' ' font ',4' # a little room above the key
set key noenhanced Left reverse horizontal bmargin center samplen 3 spacing 1.15 width 1 font ',12'

# Facts and the note of the template, broken into lines.
lines_count = 0
line_length = 0
subtitle = ''
add_line(piece) = piece eq '' ? 0 : \
    (line_length + strlen(piece) > 96 || lines_count == 0) ? \
        (subtitle = subtitle.(lines_count == 0 ? '' : ",\n").piece, lines_count = lines_count + 1, line_length = strlen(piece)) : \
        (subtitle = subtitle.', '.piece, line_length = line_length + 2 + strlen(piece))

png_width = exists('png_width') ? png_width : 1920
set_terminal = exists('is_png') ? "set terminal pngcairo noenhanced size png_width,picture_height * png_width / 720 fontscale png_width / 960.0 linewidth 2.4 ".\
        "pointscale 3.4 font 'DejaVu Sans,14' background 'white'; set output picture.'.png'" : \
    "set terminal svg noenhanced size 720,picture_height font text_font.',14' background 'white'; set output picture.'.svg'"
line_size = "line = 17.3 / picture_height"
show_title = "set label 101 heading at screen 0.5, screen 1 - 1.1 * line center noenhanced font ',18'; ".\
    "set label 102 subtitle at screen 0.5, screen 1 - 2.3 * line center noenhanced font ',12'; ".\
    "set tmargin at screen 1 - (lines_count + 2) * line"
hide_title = "unset label 101; unset label 102"
begin = "do for [i = 1:|facts|] { lines_end = add_line(facts[i]) }; lines_end = add_line(note); ".\
    "if (approximate_rows > 0) { lines_end = add_line(exact_names eq '' ? 'approximate' : 'open marks: approximate') }; eval set_terminal; eval line_size; eval show_title"

# The first pass makes the SVG, the second one, from the same script, the PNG.
finish = has_values || exists('is_png') ? 'set output' : "set output; is_png = 1; reset; load picture.'.gp'"
