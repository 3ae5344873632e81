# Above the roofs and the cases below them, below the share of each. $cases: row, operations per byte, operations per second,
# share of its roof in per cent, family. BAND, BANDWIDTH: memories. PEAK, PEAK_RATE: arithmetic. NAME_X, NAME_Y: where the
# names of memories and then of arithmetic stand. ROW, SHARE, YTICK: words.
set multiplot
set lmargin at screen X(112)
set rmargin at screen X(WIDTH - 30)
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
do for [i = 1:N_KEY] { set label KEY[i] at screen X(KEY_X[i]), screen Y(TOP - 14) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen X(KEY_X[i]), screen Y(TOP - 16) point pointtype SHAPE[KEY_KIND[i]] pointsize 0.8 linecolor rgb LINE[KEY_KIND[i]] }

least(a, b) = a < b ? a : b
highest = YHI
do for [i = 1:N_PEAK] { highest = i == N_PEAK ? PEAK_RATE[i] : highest }
widest = 0
do for [i = 1:N_BAND] { widest = BANDWIDTH[i] > widest ? BANDWIDTH[i] : widest }

# the slope of a memory is a straight line of the same angle everywhere
angle = atan2(ROOF_HEIGHT / log(YHI / YLO), (WIDTH - 142) / log(XHI / XLO)) * 180 / pi
do for [i = 1:N_BAND] { set label BAND[i] at first NAME_X[i], first NAME_Y[i] center rotate by angle noenhanced front font small textcolor rgb FAINT }
do for [i = 1:N_PEAK] { set label PEAK[i] at first NAME_X[N_BAND + i], first NAME_Y[N_BAND + i] center noenhanced front font small textcolor rgb FAINT }
plot \
	for [i = 1:N_BAND] [t = 0:1] '+' using (XLO * (highest / BANDWIDTH[i] / XLO) ** t):(XLO * (highest / BANDWIDTH[i] / XLO) ** t * BANDWIDTH[i]) \
		with lines linewidth 1.6 linecolor rgb GREY notitle, \
	for [i = 1:N_PEAK] [t = 0:1] '+' using ((widest > 0 ? PEAK_RATE[i] / widest : XLO) * (XHI * (widest > 0 ? widest / PEAK_RATE[i] : 1 / XLO)) ** t):(PEAK_RATE[i]) \
		with lines linewidth 1.6 dashtype 2 linecolor rgb GREY notitle, \
	for [i = 1:N_KEY] $cases using ($5 == i ? $2 : NaN):3 with points pointtype SHAPE[i] pointsize 0.8 linecolor rgb LINE[i] notitle

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
	for [i = 1:N_KEY] $cases using (0):($5 == i ? $1 : NaN):(least($4, 120)):(0) with vectors nohead linewidth 1.6 linecolor rgb pale(LINE[i]) notitle, \
	for [i = 1:N_KEY] $cases using (least($4, 120)):($5 == i ? $1 : NaN) with points pointtype SHAPE[i] pointsize 0.8 linecolor rgb LINE[i] notitle
unset multiplot
