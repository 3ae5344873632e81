# Speed by threads: $line1, ... with threads, speed-up, low, high, one for each of N_LINES. KEY: their names. THREADS: most of them.
set lmargin at screen X(72)
set rmargin at screen X(WIDTH - 30)
set tmargin at screen Y(TOP)
set bmargin at screen BOTTOM / (1.0 * HEIGHT)
do for [i = 1:N_LINES] {
	set label KEY[i] at screen X(KEY_X[i]), screen Y(KEY_AT + KEY_Y[i]) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen X(KEY_X[i]), screen Y(KEY_AT + KEY_Y[i]) point pointtype SHAPE[i] pointsize 0.9 linecolor rgb LINE[i]
}
set label KEY[N_KEY] at screen X(KEY_X[N_KEY] + 10), screen Y(KEY_AT + KEY_Y[N_KEY]) left noenhanced font small textcolor rgb FAINT
set arrow from screen X(KEY_X[N_KEY] - 12), screen Y(KEY_AT + KEY_Y[N_KEY]) to screen X(KEY_X[N_KEY] + 6), screen Y(KEY_AT + KEY_Y[N_KEY]) nohead linewidth 1.4 dashtype 2 linecolor rgb FAINT
if (THREADS > 8) {
	set logscale xy 2
	set xrange [0.9:THREADS * 1.1]
	set yrange [0.8:YHI]
} else {
	set xrange [0.7:THREADS + 0.3]
	set yrange [0:YHI]
	set xtics 1
}
set format y '%g×'
set xlabel 'threads, each on a core of its own' font small textcolor rgb FAINT
set ylabel 'speed-up' font small textcolor rgb FAINT
plot x with lines linewidth 1.4 dashtype 2 linecolor rgb FAINT notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:2 with lines linewidth 1.4 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:3:(0):($4 - $3) with vectors nohead linewidth 3 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:2 with points pointtype SHAPE[i] pointsize 0.9 linecolor rgb LINE[i] notitle
