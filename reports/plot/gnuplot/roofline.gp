# Above the roofs and the cases below them, below the share of each. $cases: row, operations per byte, operations per second,
# share of its roof in per cent, family. BANDWIDTH: memories. PEAK, PEAK_RATE: arithmetic. PEAK_Y: pixels
# from the bottom to the name of one. KEY_AT: pixels above the key. ROW, SHARE, YTICK: words.
set multiplot
set lmargin at screen X(112)
set rmargin at screen X(WIDTH - 190)
set tmargin at screen Y(TOP)
set bmargin at screen Y(TOP + ROOF_HEIGHT)
set logscale xy
set xrange [XLO:XHI]
set yrange [YLO:YHI]
set grid xtics
set xlabel 'operations per byte' font small textcolor rgb FAINT
set ytics noenhanced ('' YLO)
do for [i = 1:N_YTICK] { set ytics add (YTICK[i] YTICK_AT[i]) }
set ylabel YLABEL noenhanced font small textcolor rgb FAINT
do for [i = 1:N_KEY] {
	k = KEY_KIND[i]
	y = Y(KEY_AT + KEY_Y[i])
	set label KEY[i] at screen X(KEY_X[i]), screen y left noenhanced font small textcolor rgb FAINT offset 1.2,0
	if (k <= 8) { set label '' at screen X(KEY_X[i]), screen y point pointtype SHAPE[k] pointsize 0.8 linecolor rgb LINE[k] }
	if (k > 8) { set arrow from screen X(KEY_X[i] - 16), screen y to screen X(KEY_X[i] + 6), screen y nohead linewidth 1.6 dashtype k - 10 linecolor rgb GREY }
}

least(a, b) = a < b ? a : b
highest = YHI
do for [i = 1:N_PEAK] { highest = i == N_PEAK ? PEAK_RATE[i] : highest }
widest = 0
do for [i = 1:N_BAND] { widest = BANDWIDTH[i] > widest ? BANDWIDTH[i] : widest }

do for [i = 1:N_PEAK] { set label PEAK[i] at screen X(WIDTH - 182), screen Y(TOP + ROOF_HEIGHT - PEAK_Y[i]) left noenhanced font small textcolor rgb FAINT }
plot \
	for [i = 1:N_BAND] [t = 0:1] '+' using (XLO * (highest / BANDWIDTH[i] / XLO) ** t):(XLO * (highest / BANDWIDTH[i] / XLO) ** t * BANDWIDTH[i]) \
		with lines linewidth 1.6 dashtype i linecolor rgb GREY notitle, \
	for [i = 1:N_PEAK] [t = 0:1] '+' using ((widest > 0 ? PEAK_RATE[i] / widest : XLO) * (XHI * (widest > 0 ? widest / PEAK_RATE[i] : 1 / XLO)) ** t):(PEAK_RATE[i]) \
		with lines linewidth 1.6 linecolor rgb GREY notitle, \
	for [i = 1:8] $cases using ($5 == i ? $2 : NaN):3 with points pointtype SHAPE[i] pointsize 0.8 linecolor rgb LINE[i] notitle

unset label
unset xlabel
unset ylabel
unset logscale
unset grid
set lmargin at screen X(LEFT)
set rmargin at screen X(WIDTH - 120)
set tmargin at screen Y(ROWS_TOP)
set bmargin at screen Y(ROWS_TOP + N_ROW * ROW_HEIGHT)
# a limit is measured too: a case may come out above it
set xrange [0:120]
set yrange [N_ROW + 0.5:0.5]
unset ytics
set border 1 linecolor rgb FAINT
set xtics format '%g %%'
set label '% of limit, the largest first' at screen X(20), screen Y(ROWS_TOP - 18) left font normal textcolor rgb INK
do for [i = 1:N_ROW] {
	if (i % 2 == 0) { set object i rectangle from screen X(10), first i - 0.5 to screen X(WIDTH - 10), first i + 0.5 fillcolor rgb SHADE fillstyle solid noborder behind }
	set label ROW[i] at screen X(LEFT - 10), first i right noenhanced font small textcolor rgb INK
	set label SHARE[i] at screen X(WIDTH - 16), first i right noenhanced font small textcolor rgb INK
}
set label 'the roof: 100 %' at first 100, graph 1 center offset 0,0.7 font small textcolor rgb FAINT
set arrow from first 100, graph 0 to first 100, graph 1 nohead linewidth 1.2 linecolor rgb FAINT back
plot \
	for [i = 1:8] $cases using (0):($5 == i ? $1 : NaN):(least($4, 120)):(0) with vectors nohead linewidth 1.6 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:8] $cases using (least($4, 120)):($5 == i ? $1 : NaN) with points pointtype SHAPE[i] pointsize 0.8 linecolor rgb LINE[i] notitle
unset multiplot
