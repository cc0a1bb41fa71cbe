# What all pictures share: reading, terminals, colours, marks.
# The settings before this file (picture, data, subtitle, algorithms, ...) come from `allreckon plot`.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# Colours of Okabe and Ito, told apart with any colour vision; dashes and marks repeat the
# distinction for print in grey. Style k belongs to the k-th algorithm of the sweep in all pictures.
colours = '0x0072B2 0xD55E00 0x009E73 0xCC79A7 0xE69F00 0x56B4E9'
marks = '7 5 9 13 11 15'
set dashtype 11 (11,4)
set dashtype 12 (5,4)
set dashtype 13 (11,3,2,3)
set dashtype 14 (2,3)
dashes = '1 11 13 12 14'
colour(k) = int(word(colours, (k - 1) % words(colours) + 1))
dash(k) = int(word(dashes, (k - 1) % words(dashes) + 1))
is_text = exists('ascii_columns')
mark(k) = is_text ? k : int(word(marks, (k - 1) % words(marks) + 1))

# Marks tell engines apart: simgrid is filled, closed is open, any other has a white dot. The inner
# mark that makes them so is there for simgrid too, in the colour of the outer one.
mark_size = 0.8
is_filled(engine) = engine eq 'simgrid'
inner_size(engine) = mark_size * (engine eq 'closed' ? 0.68 : 0.42)
inner_colour(engine, k) = is_filled(engine) ? colour(k) : 0xFFFFFF
key_mark(k) = !is_text && engines_count == 1 && engines[1] eq 'closed' ? mark(k) - 1 : mark(k)
sign(engine) = is_filled(engine) ? '●' : engine eq 'closed' ? '○' : '◉'

# The key names engines when a picture has several. (A loop without turns would leave a gap there.)
engine_key = !exists('engines_count') || engines_count == 1 ? '' : \
    ", for [e = 1:engines_count] keyentry with points pt sign(engines[e]) lc rgb '#444444' ".\
    "title engines[e]"

# Within `using`: whether the row is of algorithm i.
of(i) = strcol('algorithm') eq algorithms[i]

text_font = 'DejaVu Sans,Helvetica,Arial,sans-serif'
set border lw 1.2 lc rgb '#333333'
set tics nomirror tc rgb '#222222'
set grid lt 1 lw 0.6 lc rgb '#D9D9D9'

# From the top: title, subtitle, plot; at the bottom the key, outside of the data.
if (!exists('picture_height')) picture_height = 480
row = is_text ? 1.0 / ascii_rows : 0.036 * 480 / picture_height
title_y = 1 - (is_text ? 0.5 : 1.1) * row
set label 101 '' at screen 0.5, screen title_y center noenhanced font ',18'
do for [i = 1:subtitle_count] {
    set label 101 + i subtitle[i] at screen 0.5, screen title_y - (i + (is_text ? 0 : 0.2)) * row \
        center noenhanced font ',12'
}
set rmargin 3.5
set tmargin at screen title_y - (subtitle_count + 1) * row
set key noenhanced Left reverse horizontal samplen 3 spacing 1.15 font ',12'
if (is_text) {
    set key bottom center outside width 1
} else {
    set key at screen 0.5, screen 0.012 bottom center maxcols key_columns
    set bmargin at screen 0.145 + 0.045 * key_rows
}

# The table below a picture: a plot without axes whose units are pixels of the SVG. Texts are in
# arrays, since cells with commas do not survive gnuplot's reader.
table_setup = "set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; ".\
    "set tmargin at screen 1; unset logscale; set xrange [0:720]; set yrange [0:picture_height]; ".\
    "set border 0; unset tics; set xlabel ''; set ylabel ''; set title ''; unset grid; set key off; eval hide_title; ".\
    "array heads[8] = ['', 'row', 'GPUs', 'algorithm', 'measured', 'predicted', 'band', 'error']; ".\
    "array head_x[8] = [26, 34, 368, 378, 500, 562, 646, 716]; ".\
    "do for [k = 1:8] { set label 200 + k heads[k] at head_x[k], head_y font ',9' tc rgb '#555555' } ; ".\
    "do for [k in '3 5 6 7 8'] { set label 200 + int(k) right }"
table_cell(text, x, side) = sprintf("data using (%g):(column('table_y')):(%s) with labels %s noenhanced font ',9' notitle", x, text, side)
table_plot = 'plot '.table_cell("strcol('number')", 26, 'right').', '.\
    table_cell("table_titles[int(column('table_row'))]", 34, 'left').', '.\
    table_cell("strcol('gpus_text')", 368, 'right').', '.\
    table_cell("table_algorithms[int(column('table_row'))]", 378, 'left').', '.\
    table_cell("strcol('measured_text')", 500, 'right').', '.\
    table_cell("strcol('predicted_text')", 562, 'right').', '.\
    table_cell("strcol('band_text')", 646, 'right').', '.table_cell("strcol('error_text')", 716, 'right')
table_end = "do for [k = 201:208] { unset label k }; set border 31 lw 1.2 lc rgb '#333333'; ".\
    "set tics nomirror tc rgb '#222222' font ',11'; set grid lt 1 lw 0.6 lc rgb '#D9D9D9'"

# The first plot makes the SVG; `eval finish` at the end of a template makes the PNG from it.
to_png = "set terminal pngcairo noenhanced size 1920,picture_height * 8 / 3 fontscale 2 linewidth 2.4 ".\
    "pointscale 3.4 font 'DejaVu Sans,14' background 'white'; set output picture.'.png'"
finish = to_png.'; replot; set output'

# For pictures of several panels, which replot would not repeat: the title is of the first panel.
show_title = "set label 101 title at screen 0.5, screen title_y center noenhanced font ',18'; ".\
    "do for [i = 1:subtitle_count] { set label 101 + i subtitle[i] at screen 0.5, ".\
    "screen title_y - (i + 0.2) * row center noenhanced font ',12' }"
hide_title = "do for [i = 0:subtitle_count] { unset label 101 + i }"
if (is_text) {
    finish = ''
    set terminal dumb noenhanced size ascii_columns,ascii_rows
    unset grid
} else {
    set terminal svg noenhanced size 720,picture_height font text_font.',14' background 'white'
    set output picture.'.svg'
}
