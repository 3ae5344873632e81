# The runs of a case. Data: $line1, $line2, ... with the columns place, median, low, high, kind (0 committed, 1 with
# uncommitted changes, 2 failed, 3 missing), one for each of N_LINES. $levels: from, to, level, line.
# KEY_AT, TOP, BOTTOM: pixels above key and plot, and below. POINT, BAR: sizes. FLAG_*: lines with words above the plot.
# YTICK, YTICK_AT: words of the ticks, and where they are.
set lmargin at screen X(112)
set rmargin at screen X(WIDTH - 50)
set tmargin at screen Y(TOP)
set bmargin at screen BOTTOM / (1.0 * HEIGHT)
do for [i = 1:N_KEY] {
	k = KEY_KIND[i]
	y = Y(KEY_AT + KEY_Y[i])
	bar = k == 11 || k == 12
	if (k > 8) { set label KEY[i] at screen X(KEY_X[i]), screen y left noenhanced font small textcolor rgb FAINT offset 1.2,0 }
	if (k <= 8) { set label KEY[i] at screen X(KEY_X[i]), screen y left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen X(KEY_X[i]), screen y point pointtype SHAPE[k] pointsize 0.8 linecolor rgb LINE[k] }
	if (k == 13) { set label '' at screen X(KEY_X[i]), screen y point pointtype 6 pointsize 0.8 linewidth 1.6 linecolor rgb (N_LINES == 1 ? BLUE : FAINT) }
	if (k == 14) { set label '' at screen X(KEY_X[i]), screen y point pointtype 2 pointsize 0.9 linewidth 2 linecolor rgb VERMILLION }
	if (k == 15) { set label '' at screen X(KEY_X[i]), screen y point pointtype 8 pointsize 0.8 linewidth 1.6 linecolor rgb GREY }
	if (bar) { set arrow from screen X(KEY_X[i] - 8), screen y to screen X(KEY_X[i] + 6), screen y nohead linewidth (k == 11 ? 3.5 : 2) linecolor rgb (k == 11 ? pale(BLUE) : FAINT) }
}
set xrange [XLO:XHI]
set yrange [YLO:YHI]
if (LOGARITHMIC) { set logscale y }
set ytics noenhanced ('' YLO)
do for [i = 1:N_YTICK] { set ytics add (YTICK[i] YTICK_AT[i]) }
set ylabel YLABEL noenhanced font small textcolor rgb FAINT
set label XLABEL at graph 0.5, screen 18.0 / HEIGHT center font small textcolor rgb FAINT

if (BY_DATE) {
	set xdata time
	set timefmt '%s'
	set format x XFORMAT
	set xtics rotate by 0
} else {
	set xtics ('' 0)
	do for [i = 1:N_PLACES] { set xtics add ('' PLACE[i]) }
	do for [i = 1:N_PLACES] {
		do for [k = 1:LABEL_LINES] {
			set label WORD[(i - 1) * LABEL_LINES + k] at first PLACE[i], screen (BOTTOM - 4.0 - 15 * k) / HEIGHT center noenhanced font small textcolor rgb INK
		}
	}
}

# changes (slower, faster, of the machine), releases, baselines; their words stand in front of the lines of others
set style textbox opaque fillcolor rgb BACK noborder margins 0.4,0.2
array FLAG_COLOUR[5] = [VERMILLION, GREEN, GREY, PURPLE, BLUE]
array FLAG_DASH[5] = [1, 1, 2, 3, 4]
do for [i = 1:N_FLAG_WORD] {
	y = FLAG_IN[i] > 0 ? Y(TOP - 4 - FLAG_ROW * (FLAG_IN[i] - 0.5)) : Y(TOP)
	left_of = 1.0 * (FLAG_X[i] - XLO) / (XHI - XLO) * (WIDTH - 162) + 112 + strlen(FLAG_WORD[i]) * 6.6 + 14 > WIDTH
	set arrow from first FLAG_X[i], graph 0 to first FLAG_X[i], screen y nohead dashtype FLAG_DASH[FLAG[i]] linewidth 1.2 linecolor rgb FLAG_COLOUR[FLAG[i]] back
	if (FLAG_IN[i] > 0 && left_of) { set label FLAG_WORD[i] at first FLAG_X[i], screen y right offset -0.5,0 noenhanced boxed front font small textcolor rgb FLAG_COLOUR[FLAG[i]] }
	if (FLAG_IN[i] > 0 && !left_of) { set label FLAG_WORD[i] at first FLAG_X[i], screen y left offset 0.5,0 noenhanced boxed front font small textcolor rgb FLAG_COLOUR[FLAG[i]] }
}

one = N_LINES == 1
# Not yerrorbars, which clear a disc around every point.
plot \
	for [i = 1:N_LINES] '$line'.i using 1:2 with lines linewidth 1.2 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:(INTERVALS ? $3 : NaN):(0):($4 - $3) with vectors nohead linewidth BAR linecolor rgb pale(LINE[i]) notitle, \
	$levels using 1:3:($2 - $1):(0) with vectors nohead linewidth 2 linecolor rgb FAINT notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:2 with points pointtype SHAPE[i] pointsize POINT linecolor rgb LINE[i] notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:($5 == 1 ? $2 : NaN) with points pointtype SHAPE[i] pointsize 0.6 * POINT linecolor rgb BACK notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:($5 == 2 ? YLO : NaN) with points pointtype 2 pointsize 0.9 linewidth 2 linecolor rgb (one ? VERMILLION : LINE[i]) notitle, \
	for [i = 1:N_LINES] '$line'.i using 1:($5 == 3 ? YLO : NaN) with points pointtype 8 pointsize 0.8 linewidth 1.6 linecolor rgb (one ? GREY : LINE[i]) notitle
