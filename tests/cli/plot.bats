#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# plot: a picture of each kind, and what bad input gets. Facts of the pictures, not their pixels: gnuplot writes each label as text.
load helpers

needs_gnuplot() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
}

# has FILE TEXT...: the picture is whole and says each of these.
has() {
	local file=$1 text
	shift
	tail -c 8 "$file" | grep -q '</svg>' || return 1
	for text; do
		grep -qF -- ">$text<" "$file" || {
			echo "$file does not say: $text"
			return 1
		}
	done
}

# Marks of one shape in a picture.
marks() {
	grep -c "href='#gpPt$2' transform" "$1"
}

@test "plot says which kinds and options there are" {
	fails 2 "cannot plot 'pie', expected one of trend, comparison, roofline, distribution, scaling, sweep, generate" plot pie
	fails 2 "cannot plot 'rooflin', did you mean 'roofline'?" plot rooflin last -o x.svg
	fails 2 "nothing to plot, expected one of trend" plot
	fails 2 "no case given: assay plot distribution CASE" plot distribution last
	fails 2 "unexpected argument 'y': expected 'assay plot trend CASE" plot trend x y
	fails 2 "unexpected argument '7': expected 'assay plot roofline" plot roofline last x 7 -o x.svg
	fails 2 "what to plot is '0', expected r3 (a run), a label or 'last'" plot scaling 0 -o x.svg
	fails 2 "what to plot is 'c3', expected r3 (a run), a label or 'last'" plot scaling c3 -o x.svg
	fails 2 "--axis does nothing for 'plot trend'" plot trend x --axis n -o x.svg
	fails 2 "--by does nothing for 'plot sweep'" plot sweep --by date -o x.svg
	fails 2 "--per is 'day', expected machine or variant" plot trend x --per day
	fails 2 "--by is 'run', expected commit or date" plot trend x --by run
	fails 2 "--theme is 'grey', expected light, dark or auto" plot trend x --theme grey
	fails 2 "unexpected argument 'r3': a comparison has both sides" plot distribution x c1 r3 -o x.svg
	fails 2 "--machine and '--per machine' exclude each other" plot trend x --per machine --machine y -o x.svg
	fails 2 "no database 'assay.db'" plot roofline -o x.svg
}

@test "plot draws each kind of a run" {
	local key
	needs_gnuplot
	export KEEP_DB=1
	measure >/dev/null
	measure >/dev/null
	key=dequantize.q8_0/ref/n=4096/t=1/warm
	run -0 "$ASSAY" plot trend dequantize --by date -o trend.svg
	has trend.svg "$key" 'start of the run (UTC)' median
	[ "$(marks trend.svg 6)" -ge 3 ] # two runs, and one in the legend
	run -0 "$ASSAY" plot trend dequantize --per machine -o machines.svg
	run -0 "$ASSAY" plot trend dequantize --per variant -o variants.svg
	has variants.svg ref
	run -0 "$ASSAY" plot distribution "$key" 1 last -o two.svg
	[ "$output" = "samples of $key drawn in two.svg" ]
	has two.svg "$key" density
	grep -q '>run 1.*: median .* of .* samples*' two.svg
	grep -q '>run 2.*: median .* of .* samples*' two.svg
	fails 2 "no case of run 2 matches 'dequantice': did you mean 'dequantize'?" plot distribution dequantice -o x.svg
	fails 2 "cases match 'q8_0'" plot distribution q8_0 -o x.svg
	fails 2 "no case of run 2 has a limit" plot roofline -o x.svg
	fails 2 "run 2 has no case that generates" plot generate -o x.svg
	fails 2 "no case has an axis 'k'" plot sweep last dequantize --axis k -o x.svg
	fails 2 "did you mean 'bytes_per_s'?" plot sweep --metric bytes_per_ss -o x.svg
	fails 2 "all cases of run 2 have the same 'n': 4096" plot sweep last dequantize -o x.svg
	fails 2 "99" plot scaling 99 -o x.svg
	fails 2 "comparison" plot comparison -o x.svg
	fails 2 "its name must end in .svg or .png" plot trend dequantize -o x.pdf
	[ ! -e x.svg ]
	# themes
	run -0 "$ASSAY" plot trend dequantize -o auto.svg
	grep -q 'prefers-color-scheme: dark' auto.svg
	run -0 "$ASSAY" plot trend dequantize --theme dark -o dark.svg
	! grep -q 'prefers-color-scheme' dark.svg && grep -q 'fill="#16191d"' dark.svg
	run -0 "$ASSAY" plot trend dequantize --theme dark -o dark.png
	[ "$(head -c 4 dark.png | tail -c 3)" = PNG ]
}

@test "plot draws generation, and says that one number of threads does not scale" {
	needs_gnuplot
	export KEEP_DB=1
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite smoke --only 'generate.*/ref/*' --threads 1 --db s.db >/dev/null
	run -0 "$ASSAY" plot generate --db s.db -o generate.svg
	has generate.svg 'parts of the model (%)' prefill decode 'first token'
	run --separate-stderr "$ASSAY" plot scaling --db s.db -o scaling.svg
	[ "$status" = 2 ] && [[ $stderr == *"run 1 has no case on more than one number of threads"* ]]
}

@test "gnuplot draws scaling, a sweep, a roofline and a comparison" {
	local kind
	needs_gnuplot
	"$ASSAY_BUILD/tests/make_database" made.db 6 100 >/dev/null
	run -0 "$ASSAY" plot scaling --db made.db -o scaling.svg
	has scaling.svg ideal 'avx2 m=128' 'speed-up' 'threads, each on a core of its own'
	grep -q stroke-dasharray scaling.svg # the ideal line
	run -0 "$ASSAY" plot sweep last matmul.ternary --axis m --db made.db -o sweep.svg
	has sweep.svg 'matmul.ternary k=256 warm over m' m 'avx2 t=1' 'openblas t=2'
	run -0 "$ASSAY" plot roofline --db made.db -o roofline.svg
	has roofline.svg '% of limit, the largest first' 'the roof: 100 %' '50 % of l3' 'matmul.f32/avx2/m=64,k=256/t=1/warm'
	run "$ASSAY" compare --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/compare_op.so" --budget 300ms --profile no --db made.db \
		--bench-dir "$ASSAY_SOURCE/tests/fixtures/compare" "$ASSAY_BUILD"/tests/plugins/compare_{base,double}.so
	[ "$status" -le 6 ]
	run -0 "$ASSAY" plot comparison --db made.db -o comparison.svg
	has comparison.svg 'lenient.triple/work/n=1024/t=1/warm' 'head relative to base: left is better, right is worse; the grey band is the margin'
	for kind in scaling roofline comparison 'sweep last matmul.ternary --axis m'; do
		# shellcheck disable=SC2086
		run -0 "$ASSAY" plot $kind --db made.db --theme dark -o dark.png
		[ "$(head -c 4 dark.png | tail -c 3)" = PNG ]
		rm dark.png
	done
}

@test "a trend shows where runs failed, and its baselines and releases" {
	needs_gnuplot
	export KEEP_DB=1
	measure >/dev/null
	measure >/dev/null
	measure >/dev/null
	"$ASSAY" baseline save main >/dev/null
	# the case is missing in a run of the suite, between two that have it
	sqlite3 assay.db "delete from result where run = 2 and bench_case = (select id from bench_case where key like 'dequantize%')" ||
		skip "no sqlite3"
	run -0 "$ASSAY" plot trend dequantize -o trend.svg
	[[ $output == "2 runs of "* ]]
	has trend.svg 'baseline main' 'not measured'
	grep -q '2 runs, 1 more without a number' trend.svg
	# the tag of the commit that was measured
	local commit
	commit=$(sqlite3 assay.db "select commit_hash from build limit 1")
	git -C "$ASSAY_SOURCE" cat-file -e "$commit" || skip "built outside of a repository"
	git clone -q --shared --no-checkout "$ASSAY_SOURCE" tagged
	git -C tagged tag v9.9 "$commit"
	(cd tagged && "$ASSAY" plot trend dequantize --db ../assay.db -o ../released.svg >/dev/null)
	has released.svg v9.9
}

@test "a gnuplot that is missing or fails gets one line" {
	mkdir bin
	export KEEP_DB=1
	measure >/dev/null
	fails 2 "only one run of 'dequantize.q8_0/ref/n=4096/t=1/warm' is stored, and a trend needs at least two" plot trend dequantize -o t.svg
	[ ! -e t.svg ]
	measure >/dev/null
	printf '#!/bin/sh\n[ "$2" = --version ] && exit 0\necho "line 3: no such thing" >&2\nexit 1\n' >bin/gnuplot
	chmod +x bin/gnuplot
	export PATH=$PWD/bin:$PATH
	fails 2 "line 3: no such thing; its program with the data is kept in 't.svg.gp'" plot trend dequantize -o t.svg
	[ ! -e t.svg ]
	grep -q 'line1 << END' t.svg.gp
	printf '#!/bin/sh\nexit 0\n' >bin/gnuplot
	fails 2 "gnuplot drew nothing; its program with the data is kept in 'v.svg.gp'" plot trend dequantize -o v.svg
	[ ! -e v.svg ]
	run --separate-stderr env PATH=/none "$ASSAY" plot trend dequantize -o u.svg
	[ "$status" = 2 ]
	[ "$stderr" = "assay: gnuplot is not installed, install the package 'gnuplot-nox' (apt) or 'gnuplot'" ]
	[ ! -e u.svg ] && [ ! -e u.svg.gp ]
}

@test "any name is drawn as text" {
	command -v gnuplot >/dev/null || skip "no gnuplot here"
	local i
	for i in 1 2 3; do
		jq -n --argjson i $i '{results: ["\u0027a", "b\u0027\u0027", "`id`\u0027", "\\u0027\\", "%d {x}_y^z @a", "plain"
			| {command: ., times: [1, 1.1, 1 + $i / 10]}]}' |
			"$ASSAY" import hyperfine - --machine "m'" --started 2026-01-0$i --db q.db >/dev/null
	done
	for i in "'a" '`id`'; do
		run -0 "$ASSAY" plot trend "$i*" -o picture.svg --db q.db
		grep -qF "$i" picture.svg
	done
	# the other kinds, with names that begin with a quote in every place where a name can stand
	for i in 1 2; do
		jq -n '{context: {}, benchmarks: [("\u0027a", "\"b") as $name | (1, 2) as $threads | range(3) | {name: $name,
			run_name: $name, run_type: "iteration", repetitions: 3, repetition_index: ., threads: $threads,
			iterations: 1000, real_time: (100 + .), cpu_time: 99, time_unit: "ns", "\u0027hit": 0.5}]}' |
			"$ASSAY" import google-benchmark - --started 2026-01-0$i --machine m --db g.db >/dev/null
	done
	# a sweep of cases without a rate is of their time
	jq -n '{results: ["1", "2", "4" | {command: "\u0027c", parameters: {n: .}, times: [tonumber]}]}' |
		"$ASSAY" import hyperfine - --machine m --label params --db g.db >/dev/null
	# either may be the faster one
	"$ASSAY" time --name "'a" --name '"b' --budget 100ms --db g.db true 'echo x' >time.txt || [ $? = 1 ]
	local of
	for of in "distribution 'a*t=1 r1" 'distribution "b*t=1 r1' "trend 'a*t=1 --machine m --metric 'hit" "sweep params 'c" 'scaling r1' 'comparison c1'; do
		echo "$of"
		# shellcheck disable=SC2086
		"$ASSAY" plot $of -o picture.svg --db g.db
		grep -qE ">([^<]* )?['\"][abc]" picture.svg
		# a control character is no XML
		! LC_ALL=C grep -q $'[\x01-\x08]' picture.svg
	done
}
