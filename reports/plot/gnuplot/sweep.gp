# Over an axis: $line1, ... with place, value, low, high, one for each of N_LINES. KEY: their names. WORD, PLACE: values of the axis that are words. YTICK: words.
set lmargin at screen X(112)
set rmargin at screen X(WIDTH - 30)
set tmargin at screen Y(TOP)
set bmargin at screen BOTTOM / (1.0 * HEIGHT)
do for [i = 1:N_LINES] {
	set label KEY[i] at screen X(KEY_X[i]), screen Y(KEY_AT + KEY_Y[i]) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen X(KEY_X[i]), screen Y(KEY_AT + KEY_Y[i]) point pointtype SHAPE[i] pointsize 0.9 linecolor rgb LINE[i]
}
if (XLOG) {
	set logscale x 2
	set xrange [XLO / 1.15:XHI * 1.15]
} else {
	air = XHI > XLO ? 0.06 * (XHI - XLO) : 1
	set xrange [XLO - air:XHI + air]
}
if (XWORDS) {
	set xtics ('' XLO)
	do for [i = 1:N_WORD] {
		set xtics add ('' PLACE[i])
		set label WORD[i] at first PLACE[i], screen (BOTTOM - 16.0) / HEIGHT center noenhanced font small textcolor rgb INK
	}
}
if (YLOG) { set logscale y }
set yrange [YLO:YHI]
set ytics noenhanced ('' YLO)
do for [i = 1:N_YTICK] { set ytics add (YTICK[i] YTICK_AT[i]) }
set xlabel XLABEL noenhanced font small textcolor rgb FAINT
set ylabel YLABEL noenhanced font small textcolor rgb FAINT
plot \
	for [i = 1:N_LINES] '$line'.i using 1:2 with lines linewidth 1.4 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:3:(0):($4 - $3) with vectors nohead linewidth 3 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:2 with points pointtype SHAPE[i] pointsize 0.9 linecolor rgb LINE[i] notitle
