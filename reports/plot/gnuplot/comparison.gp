# A row a case. $cases: row, ratio, low, high, low and high of the margin, verdict (1 wrong result to 7 pass).
# ROW, CHANGE, REASON: words of each row. WIDE: the axis is one of factors, otherwise of per cent.
set lmargin at screen X(LEFT)
set rmargin at screen X(WIDTH - 100)
set tmargin at screen Y(TOP)
set bmargin at screen BOTTOM / (1.0 * HEIGHT)
set xrange [XLO:XHI]
set yrange [N_ROW + 0.5:0.5]
unset ytics
unset grid
set border 1 linecolor rgb FAINT
if (WIDE) {
	set logscale x
	set xtics ('×1' 1)
	# 1, 2 and 5 of each decade, of many decades 1 alone
	do for [k = -9:9] {
		do for [m = 1:(XHI / XLO > 2000 ? 1 : 3)] {
			v = (m == 1 ? 1 : m == 2 ? 2 : 5) * 10.0 ** k
			if (v >= XLO && v <= XHI) { set xtics add (sprintf('×%g', v) v) }
		}
	}
	none = 1
} else {
	set xtics format '%+g %%' add ('0 %%' 0)
	none = 0
}
set label 'head relative to base: left is better, right is worse; the grey band is the margin' \
	at screen X((LEFT + WIDTH - 100) / 2), screen 16.0 / HEIGHT center font small textcolor rgb FAINT

# a reason covers the line of no change
set style textbox 1 opaque fillcolor rgb SHADE noborder margins 0.4,0.2
set style textbox 2 opaque fillcolor rgb BACK noborder margins 0.4,0.2
do for [i = 1:N_ROW] {
	if (i % 2 == 0) { set object i rectangle from screen X(10), first i - 0.5 to screen X(WIDTH - 10), first i + 0.5 fillcolor rgb SHADE fillstyle solid noborder behind }
	set label ROW[i] at screen X(LEFT - 10), first i right noenhanced font small textcolor rgb INK
	set label CHANGE[i] at screen X(WIDTH - 16), first i right noenhanced font small textcolor rgb INK
	if (strlen(REASON[i])) { set label REASON[i] at graph 0.03, first i left noenhanced boxed bs (1 + i % 2) front font small textcolor rgb FAINT }
}
set arrow from first none, graph 0 to first none, graph 1 nohead linewidth 1.2 linecolor rgb FAINT back

# WRONG_RESULT, NOT_MEASURED, REGRESSED, INCOMPARABLE, INCONCLUSIVE, IMPROVED, PASS
array MARK[7] = [3, 2, 9, 4, 6, 11, 7]
array COLOUR[7] = [VERMILLION, GREY, VERMILLION, GREY, ORANGE, GREEN, BLUE]
do for [i = 1:N_KEY] { set label KEY[i] at screen X(KEY_X[i]), screen Y(TOP - 20) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen X(KEY_X[i]), screen Y(TOP - 20) point pointtype MARK[KEY_KIND[i]] pointsize 0.9 linewidth 1.8 linecolor rgb COLOUR[KEY_KIND[i]] }
half = 0.32
in(v) = v < XLO ? XLO : v > XHI ? XHI : v
plot \
	$cases using 5:($1 - half):5:6:($1 - half):($1 + half) with boxxyerror fillcolor rgb pale(GREY) fillstyle solid 0.35 noborder notitle, \
	for [i = 1:7] $cases using (in($3)):($7 == i ? $1 : NaN):(in($4) - in($3)):(0) with vectors nohead linewidth 2.2 \
		linecolor rgb COLOUR[i] notitle, \
	for [i = 1:7] $cases using 2:($7 == i ? $1 : NaN) with points pointtype MARK[i] pointsize 0.9 linewidth 1.8 \
		linecolor rgb COLOUR[i] notitle, \
	for [i = 1:7] $cases using (XLO):($7 == i && $2 != $2 ? $1 : NaN) with points pointtype MARK[i] pointsize 0.9 linewidth 1.8 \
		linecolor rgb COLOUR[i] notitle
