# The samples of one or two sides. $density1, $density2; $share1, $share2: the cumulative share. KEY: their names. MEDIAN of each. XTICK: words.
# SHARED: "samples" or "values".
set multiplot
set lmargin at screen X(92)
set rmargin at screen X(WIDTH - 50)
set xrange [XLO:XHI]

set tmargin at screen Y(TOP)
set bmargin at screen Y(TOP + PANEL)
set ylabel 'density' font small textcolor rgb FAINT
set xtics noenhanced ('' XLO)
do for [i = 1:N_XTICK] { set xtics add ('' XTICK_AT[i]) }
unset ytics
set yrange [0:*]
do for [i = 1:N_KEY] {
	set label KEY[i] at screen X(KEY_X[i]), screen Y(KEY_AT + KEY_Y[i]) left noenhanced font small textcolor rgb FAINT offset 1,0
	set arrow 10 + i from screen X(KEY_X[i] - 18), screen Y(KEY_AT + KEY_Y[i]) to screen X(KEY_X[i] + 2), screen Y(KEY_AT + KEY_Y[i]) nohead linewidth 2 dashtype i linecolor rgb LINE[i]
	set arrow i from first MEDIAN[i], graph 0 to first MEDIAN[i], graph 1 nohead linewidth 1.4 dashtype 2 linecolor rgb LINE[i] back
}
plot for [i = 1:N_KEY] '$density'.i using 1:2 with filledcurves y1=0 fillcolor rgb pale(LINE[i]) fillstyle solid 0.3 notitle, \
	for [i = 1:N_KEY] '$density'.i using 1:2 with lines linewidth 2 dashtype i linecolor rgb LINE[i] notitle

unset label
set tmargin at screen Y(TOP + PANEL + 24)
set bmargin at screen Y(TOP + 2 * PANEL + 24)
do for [i = 1:N_XTICK] { set xtics add (XTICK[i] XTICK_AT[i]) }
set format y '%g %%'
set yrange [0:100]
set ytics 25 nomirror scale 0.5 font small textcolor rgb INK
unset arrow 11
unset arrow 12
set ylabel 'cumulative share of '.SHARED font small textcolor rgb FAINT
set xlabel XLABEL noenhanced font small textcolor rgb FAINT
plot for [i = 1:N_KEY] '$share'.i using 1:2 with steps linewidth 2 dashtype i linecolor rgb LINE[i] notitle
unset multiplot
