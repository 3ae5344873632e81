# Generation, a row a case, in three panels: prefill and decode, parts of the model, latency. $cases: row, share of prefill
# in per cent, sums up to embedding, attention, ffn, head, sampling, then tpot p50, p95, p99 and ttft. ROW, TIME: words.
set multiplot
set tmargin at screen Y(TOP)
set bmargin at screen BOTTOM / (1.0 * HEIGHT)
set yrange [N_ROW + 0.5:0.5]
unset ytics
unset grid
set border 1 linecolor rgb FAINT
third = (WIDTH - LEFT - 100) / 3.0
from(panel) = X(LEFT + (panel - 1) * (third + 36))
to(panel) = X(LEFT + (panel - 1) * (third + 36) + third)
half = 0.3

do for [i = 1:N_ROW] {
	if (i % 2 == 0) { set object i rectangle from screen X(10), first i - 0.5 to screen X(WIDTH - 10), first i + 0.5 fillcolor rgb SHADE fillstyle solid noborder behind }
	set label ROW[i] at screen X(LEFT - 10), first i right noenhanced font small textcolor rgb INK
}
do for [i = 1:N_ROW] { set label TIME[i] at screen to(1), first i right offset -0.5,0 noenhanced font small textcolor rgb INK front }
set lmargin at screen from(1)
set rmargin at screen to(1)
set xrange [0:165]
set xtics 0, 50, 100 format '%g'
set label 'share of an iteration (%)' at screen from(1), screen Y(TOP - 56) left font normal textcolor rgb INK
array STEP[2] = ['prefill', 'decode']
do for [i = 1:|STEP|] { set label STEP[i] at screen from(1) + X(6 + 72 * (i - 1)), screen Y(TOP - 32) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen from(1) + X(6 + 72 * (i - 1)), screen Y(TOP - 32) point pointtype 5 pointsize 0.9 linecolor rgb (i == 1 ? BLUE : ORANGE) }
plot $cases using (0):($1 - half):(0):2:($1 - half):($1 + half) with boxxyerror fillcolor rgb BLUE fillstyle solid noborder notitle, \
	$cases using (0):($1 - half):2:(100):($1 - half):($1 + half) with boxxyerror fillcolor rgb ORANGE fillstyle solid noborder notitle

unset label
unset object
set lmargin at screen from(2)
set rmargin at screen to(2)
set xrange [0:100]
set label 'parts of the model (%)' at screen from(2), screen Y(TOP - 56) left font normal textcolor rgb INK
array PART[5] = ['embedding', 'attention', 'ffn', 'head', 'sampling']
do for [i = 1:|PART|] { set label PART[i] at screen from(2) + X(6 + (i < 4 ? (i - 1) * 88 - (i == 3 ? 12 : 0) : (i - 4) * 88)), screen Y(TOP - (i < 4 ? 36 : 18)) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen from(2) + X(6 + (i < 4 ? (i - 1) * 88 - (i == 3 ? 12 : 0) : (i - 4) * 88)), screen Y(TOP - (i < 4 ? 36 : 18)) point pointtype 5 pointsize 0.9 linecolor rgb LINE[i] }
plot for [i = 1:5] $cases using (0):($1 - half):(i == 1 ? 0 : column(i + 1)):(column(i + 2)):($1 - half):($1 + half) \
	with boxxyerror fillcolor rgb LINE[i] fillstyle solid noborder notitle

unset label
set lmargin at screen from(3)
set rmargin at screen to(3)
set logscale x
set xrange [XLO:XHI]
set xtics noenhanced ('' XLO)
do for [i = 1:N_XTICK] { set xtics add (XTICK[i] XTICK_AT[i]) }
set label 'latency' at screen from(3), screen Y(TOP - 56) left font normal textcolor rgb INK
array LATE[4] = ['token p50', 'p95', 'p99', 'first token']
array LATE_MARK[4] = [7, 9, 13, 5]
do for [i = 1:|LATE|] { set label LATE[i] at screen from(3) + X(6 + (i == 1 ? 0 : i == 2 ? 86 : i == 3 ? 132 : 0)), screen Y(TOP - (i < 4 ? 36 : 18)) left noenhanced font small textcolor rgb FAINT offset 1.2,0; set label '' at screen from(3) + X(6 + (i == 1 ? 0 : i == 2 ? 86 : i == 3 ? 132 : 0)), screen Y(TOP - (i < 4 ? 36 : 18)) point pointtype LATE_MARK[i] pointsize 0.9 linecolor rgb (i < 4 ? BLUE : VERMILLION) }
plot $cases using 8:1:($10 - $8):(0) with vectors nohead linewidth 2 linecolor rgb pale(BLUE) notitle, \
	$cases using 8:1 with points pointtype 7 pointsize 0.8 linecolor rgb BLUE notitle, \
	$cases using 9:1 with points pointtype 9 pointsize 0.7 linecolor rgb BLUE notitle, \
	$cases using 10:1 with points pointtype 13 pointsize 0.7 linecolor rgb BLUE notitle, \
	$cases using 11:1 with points pointtype 5 pointsize 0.8 linecolor rgb VERMILLION notitle
unset multiplot
