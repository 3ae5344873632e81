# What all plots share. Before it stand PNG, OUTPUT, a theme, and the variables of the plot, among them:
# WIDTH, HEIGHT: of the picture in pixels. TITLE: lines of the title. BELOW: the line under it.
set encoding utf8
set datafile missing 'NaN'
if (PNG) {
	set terminal pngcairo size WIDTH,HEIGHT font 'sans-serif,10' pointscale 1.5 linewidth 1.2 background BACK
} else {
	set terminal svg size WIDTH,HEIGHT name 'plot' font 'sans-serif,13' background BACK
}
set output OUTPUT
small = PNG ? ',8.5' : ',11'
normal = PNG ? ',9.5' : ',12.5'
large = PNG ? ',11' : ',14'

# pixels from the left, and from the top
X(pixels) = pixels / (1.0 * WIDTH)
Y(pixels) = 1 - pixels / (1.0 * HEIGHT)
# a colour that lets others shine through
pale(colour) = '#a0'.colour[2:]

# lines differ in colour and in shape
array LINE[8] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BROWN, GREY]
array SHAPE[8] = [7, 9, 5, 13, 11, 15, 6, 4]
unset key

do for [i = 1:N_TITLE] {
	set label TITLE[i] at screen X(20), screen Y(10 + 20 * i) left noenhanced font large textcolor rgb INK
}
set label BELOW at screen X(20), screen Y(10 + 20 * (N_TITLE + 1)) left noenhanced font small textcolor rgb FAINT
set border 3 linecolor rgb FAINT
set grid ytics linetype 1 linewidth 1 linecolor rgb GRID
set tics nomirror scale 0.5 font small textcolor rgb INK
