#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# import: what other tools wrote becomes runs, which history, gates, lists and plots take like any other.
load helpers

FIXTURES=$ASSAY_SOURCE/tests/fixtures/import

@test "import takes a format and a file" {
	fails 2 "no format given: assay import auto FILE" import
	fails 2 "no file given: assay import hyperfine FILE" import hyperfine
	fails 2 "unexpected argument 'c'" import a b c
	fails 2 "unknown format 'hyperfin', did you mean 'hyperfine'?" import hyperfin "$FIXTURES/hyperfine.json"
	fails 2 "cannot read 'none.json': No such file or directory" import auto none.json
	fails 2 "cannot read '.': Is a directory" import auto .
	fails 2 "bad --started 'today'" import auto "$FIXTURES/hyperfine.json" --started today
	fails 2 "--machine is '', expected 1 to 127 bytes" import auto "$FIXTURES/hyperfine.json" --machine ''
	echo '{"results": [{"command": "x", "times": [1,]}]}' >bad.json
	fails 2 "bad.json:1: unexpected token near ']'" import auto bad.json
	fails 2 "standard input:1: the file ends" import auto - </dev/null
}

@test "every format is recognised, and the same bytes count once" {
	local name format
	for name in google_benchmark_1.3 google_benchmark_1.8 llama_bench hyperfine pyperf; do
		format=${name%_1.?}
		run --separate-stderr "$ASSAY" import auto "$FIXTURES/$name.json" --json
		[ "$status" = 0 ]
		jq -e --arg format "${format//_/-}" '.schema == 1 and .format == $format and .already == false and (.digest | length) == 32
			and .runs[0].cases > 0 and .runs[0].ok > 0 and .runs[0].samples > 0' <<<"$output"
	done
	run --separate-stderr "$ASSAY" import llama-bench - --machine ci <"$FIXTURES/llama_bench.jsonl"
	[ "$status" = 0 ] && [[ $output == *"run 7: 2 cases of llama-bench, 1 sample, 1 without a time"* ]]
	run --separate-stderr "$ASSAY" import auto "$FIXTURES/pyperf.json"
	[ "$status" = 0 ] && [ "$output" = "run 5 came from this file with the same options: nothing was added" ]
	# through a pipe they are the same
	cat "$FIXTURES/pyperf.json" | "$ASSAY" import pyperf - --json | jq -e '.already and .runs == [] and .same == [5]'
	run --separate-stderr "$ASSAY" show --json
	jq -e '(.runs | length) == 7 and all(.runs[]; .imported and .seed == null and .ended == null)
		and ([.runs[] | select(.imported == "hyperfine") | .started] == [null])' <<<"$output"
}

@test "imported cases have their past, and what is unknown is said" {
	local i
	measure >/dev/null
	for i in 1 2 3 4 5 6 7 8; do
		sed "s/0.12/0.1${i}/g" "$FIXTURES/hyperfine.json" |
			"$ASSAY" import hyperfine - --machine ci --started "2026-01-0$i" --commit "abc$i" >/dev/null
	done
	run --separate-stderr "$ASSAY" history "sort words" --json
	[ "$status" = 0 ]
	jq -e '.case == "sort words.txt/hyperfine/-" and [.points[].commit] == ["abc1","abc2","abc3","abc4","abc5","abc6","abc7","abc8"]' \
		<<<"$output"
	# what assay measured is found though the last run is another machine's
	"$ASSAY" history dequantize --json | jq -e '(.points | length) == 1'
	export KEEP_DB=1
	fails 2 "no stored case matches 'dequantize'" history dequantize --machine ci
	run --separate-stderr "$ASSAY" show 9
	[ "$status" = 0 ] && [[ $output == *"imported from hyperfine"* && $output == *unchecked* ]]
	"$ASSAY" show 9 "sort words" | grep -q '^samples   12 of 1 iterations in 12 processes; disturbance and warm-up unknown$'
	"$ASSAY" show 9 --json | jq -e '.run.imported == "hyperfine" and (.cases[0] | .cache == null and .threads == null
		and .correct == null and .cpus == [] and .steady == null and .metrics.time_s.source == "imported")'
	if command -v gnuplot >/dev/null; then
		"$ASSAY" plot trend "sort words" -o trend.svg
		grep -q '<svg' trend.svg
	fi
}

@test "a gate holds imported runs against those of the same machine, and says what it cannot check" {
	jq '.results |= .[:1]' "$FIXTURES/hyperfine.json" >base.json
	jq '.results[0].times[] *= 1.5' base.json >head.json
	"$ASSAY" import hyperfine base.json --machine ci >/dev/null
	run --separate-stderr "$ASSAY" gate --suite hyperfine
	[ "$status" = 5 ] && [[ $stderr == *"import one, with the same --machine and --suite"* ]]
	"$ASSAY" import hyperfine head.json --machine ci >/dev/null
	run --separate-stderr "$ASSAY" gate --suite hyperfine --json
	[ "$status" = 1 ]
	jq -e '.verdict == "REGRESSED" and (.unchecked | startswith("imported from hyperfine: whether outputs are right"))
		and (.cases[0] | .evidence == "imported" and (.ratio - 1.5 | fabs) < 0.01)' <<<"$output"
	run --separate-stderr "$ASSAY" gate --suite hyperfine
	[ "$status" = 1 ] && [[ $output == *"unchecked imported from hyperfine"* && $output == *"next: 'assay history"* ]]
	# another machine, and one of which nobody knows
	jq '.results[0].command = "sort words.txt"' -c head.json >again.json
	"$ASSAY" import hyperfine again.json --machine other >/dev/null
	run --separate-stderr "$ASSAY" gate --suite hyperfine --json
	[ "$status" = 5 ] && jq -e '.no_baseline' <<<"$output"
	for i in 1 2; do
		jq ". + {n: $i}" head.json | "$ASSAY" import hyperfine - >/dev/null
	done
	run --separate-stderr "$ASSAY" gate --suite hyperfine --json
	[ "$status" = 5 ] && jq -e '.cases[0] | .verdict == "INCOMPARABLE" and (.reason | startswith("the machine that it was measured on is unknown"))' \
		<<<"$output"
}

@test "a gate of an imported suite fails when a benchmark is gone" {
	local i
	echo '{"results":[{"command":"A","times":[1,1.001,1.002,1.003,1.004,1.005,1.006]},{"command":"B","times":[2,2.1,2.2]}]}' >1.json
	echo '{"results":[{"command":"A","times":[1,1.001,1.002,1.003,1.004,1.005,1.007]}]}' >2.json
	for i in 1 2; do
		"$ASSAY" import hyperfine $i.json --machine m --started 2026-01-0$i --db gone.db >/dev/null
	done
	run --separate-stderr "$ASSAY" gate --suite hyperfine --db gone.db --json
	[ "$status" = 4 ]
	jq -e '.verdict == "NOT_MEASURED" and any(.cases[]; .key == "B/hyperfine/-" and .verdict == "NOT_MEASURED"
		and (.reason | startswith("in run 1 of the baseline but not in the run")))' <<<"$output"
	# against a named baseline
	"$ASSAY" baseline save b --run 1 --db gone.db >/dev/null
	run --separate-stderr "$ASSAY" gate --suite hyperfine --baseline b --db gone.db
	[ "$status" = 4 ] && [[ $output == *B/hyperfine/-* ]]
	# by a manifest, which takes the keys of imported cases
	printf 'required A/hyperfine/-\nrequired B/hyperfine/-\n' >both.manifest
	run --separate-stderr "$ASSAY" gate --suite hyperfine --manifest both.manifest --db gone.db
	[ "$status" = 4 ] && [[ $output == *"in the manifest (both.manifest:2) but not in the run"* ]]
	# and it can be meant
	"$ASSAY" baseline drop b --db gone.db >/dev/null
	"$ASSAY" baseline save c --run 2 --db gone.db >/dev/null
	sed s/1.007/1.008/ 2.json | "$ASSAY" import hyperfine - --machine m --started 2026-01-03 --db gone.db >/dev/null
	run --separate-stderr "$ASSAY" gate --suite hyperfine --db gone.db
	[ "$status" = 0 ]
}

@test "runs of other tools can be compared" {
	local i
	for i in 1 2; do
		printf '{"results": [{"command": "sort", "times": [%s.0, %s.1], "exit_codes": [0, 0]}]}' $i $i >$i.json
		"$ASSAY" import hyperfine $i.json --machine box >/dev/null
	done
	KEEP_DB=1 run --separate-stderr "$ASSAY" diff 1 2 --json
	[ "$status" = 0 ]
	jq -e '.cases | length == 1 and .[0].key == "sort/hyperfine/-" and .[0].speedup < 0.6' <<<"$output"
}

@test "times on the screen are UTC, as options take them, and say so" {
	echo '{"results":[{"command":"x","times":[1.0,1.1]}]}' >x.json
	export TZ=America/Sao_Paulo
	"$ASSAY" import hyperfine x.json --machine m --started 2026-03-01 --db z.db >/dev/null
	run -0 "$ASSAY" show --db z.db
	[[ $output == *" 2026-03-01 00:00 UTC "* ]]
	run -0 "$ASSAY" show 1 --db z.db
	[[ $output == *"2026-03-01 00:00:00 UTC"* ]]
	run -0 "$ASSAY" history x --since 2026-03-01 --db z.db
	[[ $output == *" 2026-03-01 00:00 UTC "* ]]
}

@test "what was imported wrongly is imported again with the right options" {
	echo '{"results":[{"command":"x","times":[1.0,1.1]}]}' >x.json
	"$ASSAY" import hyperfine x.json --machine wrong --commit c1 --started 2026-01-01 --db w.db
	# the same bytes of another day are another run
	run -0 "$ASSAY" import hyperfine x.json --machine wrong --commit c1 --started 2026-01-02 --db w.db
	[[ $output == *"run 2: 1 case"* && $output == *"run 1 came from this file with other options; if those were wrong, '--replace 1'"* ]]
	run -0 "$ASSAY" import hyperfine x.json --machine right --commit c2 --started 2026-01-01 --replace 1 --db w.db
	[[ $output == *"run 1, from this file with other options, was removed"* ]]
	"$ASSAY" show --json --db w.db | jq -e '[.runs[] | "\(.id) \(.machine) \(.commit)"] == ["2 wrong c1", "3 right c2"]'

	# each option is one
	local want=4 option
	for option in --suite=s --label=l --machine=other --commit=c3 --started=2026-01-03; do
		run -0 "$ASSAY" import hyperfine x.json --machine right --commit c2 --started 2026-01-01 $option --json --db w.db
		jq -e --argjson want $want '.already == false and .runs[0].id == $want' <<<"$output"
		want=$((want + 1))
	done
	# nothing but what this file became is replaced, and nothing that a baseline holds
	cp w.db assay.db
	export KEEP_DB=1
	"$ASSAY" baseline save b --run 3
	fails 2 "the file was imported, but the other run stays: cannot remove run 3: a baseline holds it" \
		import hyperfine x.json --machine last --replace 3
	echo '{"results":[{"command":"y","times":[1.0,1.1]}]}' >y.json
	fails 2 "cannot replace run 3: it did not come from this file" import hyperfine y.json --replace 3
	fails 2 "--replace is 'last': name the run, such as r3" import hyperfine y.json --replace last
	"$ASSAY" show --json | jq -e '.runs | length == 8'
}

@test "a command keeps the words that were typed" {
	local i
	for i in 1 2 3; do
		jq -n --argjson i $i '{results: ["./bin/sort --n=5,6 \"a b\" #1 [x] {1,2} *.txt 50%", "/usr/bin/sort x"
			| {command: ., times: [1, 1.001, 1.002, 1.003, 1.004, 1.005, 1 + $i / 1000]}]}' |
			"$ASSAY" import hyperfine - --machine m --started 2026-01-0$i --db k.db >/dev/null
	done
	"$ASSAY" show 1 --json --db k.db | jq -e '[.cases[].key] == ["./bin/sort --n=5,6 \"a b\" #1 [x] {1,2} *.txt 50%/hyperfine/-",
		"/usr/bin/sort x/hyperfine/-"]'
	# found by what was typed
	run -0 "$ASSAY" history './bin/sort --n=5,6 "a b" #1 [x]' --db k.db
	run -0 "$ASSAY" history '/usr/bin/sort x' --json --db k.db
	jq -e '.points | length == 3' <<<"$output"
	# a manifest names it in quotes
	printf 'required "/usr/bin/sort x/hyperfine/-" # the old one\noptional "./bin/sort # 2/hyperfine/-"\n' >k.manifest
	run --separate-stderr "$ASSAY" gate --suite hyperfine --manifest k.manifest --db k.db --json
	[ "$status" = 0 ]
	jq -e '[.cases[].key] | index("/usr/bin/sort x/hyperfine/-") != null' <<<"$output"
	sed -i 's/sort x/sort y/' k.manifest
	run --separate-stderr "$ASSAY" gate --suite hyperfine --manifest k.manifest --db k.db
	[ "$status" = 4 ]
}

@test "a date is taken as --json writes it, and one that is not known stays so" {
	local when
	echo '{"results": [{"command": "x", "times": [1.0, 2.9]}]}' >d.json
	for when in 2026-01-31T12:00:30Z 2026-01-31T12:00:31 2026-01-31T12:01 2026-02-01; do
		"$ASSAY" import hyperfine d.json --machine m --started "$when" --db d.db >/dev/null
	done
	"$ASSAY" import hyperfine d.json --machine m --db d.db
	"$ASSAY" history x --json --db d.db >d-history.json
	jq -e '[.points[].started] == ["2026-01-31T12:00:30Z", "2026-01-31T12:00:31Z", "2026-01-31T12:01:00Z", "2026-02-01T00:00:00Z", null]
		# of two runs of which one takes three times as long there is no interval
		and ([.points[].ci95_ns] | all(. == null))' d-history.json
	run -0 "$ASSAY" history x --db d.db
	[[ $output == *" unknown "* && $output != *"±"* ]]
	fails 2 "bad --started '2026-01-31T12:61'" import hyperfine d.json --started 2026-01-31T12:61
}

@test "a benchmark keeps its whole name" {
	local long='BM_Sort<std::vector<std::pair<long, std::basic_string<char, std::char_traits<char>>>>>'
	jq -n --arg long "$long" '{context: {}, benchmarks: [$long + "/65536", $long + "/" + ("x" * 64), "BM \"q\" a=1, 50% \\c*/n:8"
		| {name: ., run_name: ., run_type: "iteration", threads: 1, iterations: 10, real_time: 100, cpu_time: 99, time_unit: "ns"}]}' |
		"$ASSAY" import google-benchmark - --machine m --started 2026-01-01 --db n.db
	# what looks like an argument in it stays there, since no member of a row says that it is one
	"$ASSAY" show 1 --json --db n.db | jq -e --arg long "$long" '[.cases[] | [.key, .axes]] == [
		[$long + "/65536/google-benchmark/-/t=1", {}],
		[$long + "/" + ("x" * 64) + "/google-benchmark/-/t=1", {}],
		["BM \"q\" a=1, 50% \\c*/n:8/google-benchmark/-/t=1", {}]]'
	run -0 "$ASSAY" show 1 --db n.db
	[[ $output == *"$long"* ]]
	# found by it
	run -0 "$ASSAY" history 'BM "q" a=1, 50% \c*/n:8/google-benchmark/-/t=1' --db n.db
}

@test "a table of name, value and unit is imported" {
	run -0 "$ASSAY" import csv "$FIXTURES/times.csv" --machine m --commit c1 --db t.db
	[[ $output == *"run 1: 2 cases of csv, 4 samples"* ]]
	"$ASSAY" show 1 --json --db t.db | jq -e '[.cases[] | [.key, .median_ns, .samples]]
		== [["sort words.txt/csv/-", 12600000, 3], ["copy 1,5 GB/csv/-", 610000000, 1]]'
	# by blanks, semicolons or tabs; with a mark, other line ends, and no end of the last
	printf '\xef\xbb\xbf# times of today\r\n\r\na  b 1.5 us\r\na  b\t2e3 ns' | "$ASSAY" import csv - --db u.db
	printf 'x;3;ms\n"y ""z"";";4;s\n' | "$ASSAY" import csv - --db u.db
	"$ASSAY" show 1 --json --db u.db | jq -e '[.cases[] | [.key, .samples]] == [["a  b/csv/-", 2]]'
	"$ASSAY" show 2 --json --db u.db | jq -e '[.cases[] | [.key, .median_ns]] == [["x/csv/-", 3000000], ["y \"z\";/csv/-", 4000000000]]'
	# nothing of a file is stored when a line is wrong, which is named
	local line want
	while IFS='|' read -r line want; do
		printf 'good,1,s\n%b\n' "$line" >bad.csv
		fails 2 "bad.csv:2: $want" import csv bad.csv
	done <<-'END'
		a,b,c|the value is 'b', expected a number
		a,-1,s|the value is '-1', expected a number above 0
		a,nan,s|the value is 'nan', expected a number
		a,0,MB/s|the value is '0', expected a number above 0
		a,1.5,count|the value is '1.5', expected a whole number of what is counted
		a,-1,1|the value is '-1', expected a whole number of what is counted
		a,0.3,KiB|the value is '0.3', expected a whole number of bytes
		a,1|this line has 2 fields, expected name, value and unit
		a,1,2,s|this line has 4 fields, expected name, value and unit
		alone|this line has 1 field, expected name, value and unit
		a,1,furlong/s|the unit 'furlong/s' is not known, expected a time (ns, us, ms, s, min), a rate
		a,1,kms|the unit 'kms' is not known
		a,1,kKiB|the unit 'kKiB' is not known
		a,1,/s|the unit '/s' is not known
		,1,s|the name has 0 bytes, expected 1 to 4095
		"a,1,s|a quote is not closed
		"a"b,1,s|a quote is not closed, or something follows it
		a\0b,1,s|a byte of this line is zero: this is not text
	END
	: >empty.csv
	fails 2 "empty.csv: there are no benchmarks in it" import csv empty.csv
}

@test "a table of rates, sizes, counts and shares is imported, and a lower rate is worse" {
	local rate
	cat >rates.csv <<-'END'
		Benchmark,Value,Unit
		lz4,700,MB/s
		lz4,702,MB/s
		decode,41.5,k tok/s
		both,80,MiB/s
		both,12,ms
		both,1.5,KiB
		both,7,count
		both,93.5,%
		binary,1234,B
	END
	run -0 "$ASSAY" import csv rates.csv --machine m --db r.db
	"$ASSAY" show 1 --json --db r.db | jq -e '[.cases[] | [.key, .status, .samples, (.metrics | map_values([.value, .unit, .better]) | del(.time_s))]] == [
		["lz4/csv/-", "ok", 2, {bytes_per_s: [701e6, "B/s", "higher"]}],
		["decode/csv/-", "ok", 1, {tokens_per_s: [41500, "1/s", "higher"]}],
		["both/csv/-", "ok", 1, {bytes_per_s: [83886080, "B/s", "higher"], bytes: [1536, "B", "lower"], count: [7, "1", null],
			share_frac: [0.935, "1", null]}],
		["binary/csv/-", "skipped", 0, {}]]
		# the time of a byte, and of a token; where the file has a time, that is it
		and ([.cases[:3][].median_ns] | (.[0] * 0.701 - 1 | fabs) < 1e-4 and (.[1] * 41500 / 1e9 - 1 | fabs) < 1e-6 and .[2] == 12e6)
		and .cases[3].reason == "the file has neither a time nor a rate for it"'
	for unit in B/s kB/s KB/s GB/s KiB/s GiB/s TiB/s tok/s tokens/s Mtokens/s op/s ops/s 'G ops/s' items/s 1/s; do
		echo "x,2,$unit"
	done | "$ASSAY" import csv - --db u.db
	for unit in B kB KB MB GB TB KiB MiB GiB TiB 1 count % percent; do
		printf 'x,2,%s\n' "$unit" | sed 's/$/\nx,1,s/' | "$ASSAY" import csv - --db u.db
	done
	# half the rate is twice the time
	for rate in 700 350; do
		seq 8 | sed "s/.*/lz4,$rate.&,MB\/s/" | "$ASSAY" import csv - --machine n --db g.db
	done
	run --separate-stderr "$ASSAY" gate --suite csv --db g.db --json
	[ "$status" = 1 ]
	jq -e '.cases[0] | .key == "lz4/csv/-" and .verdict == "REGRESSED" and (.ratio - 2 | fabs) < 0.01' <<<"$output"
}

@test "runs without a date have none in a diff, a history and a plot, and names of JUnit keep the whole key" {
	for time in 1 2; do
		printf './a b/c,%s,s\n' "$time" | "$ASSAY" import csv - --machine m --db u.db
	done
	run -0 --separate-stderr "$ASSAY" diff 1 2 --db u.db
	[ "$(grep -c 'imported without a date' <<<"$output")" = 2 ]
	"$ASSAY" diff 1 2 --json --db u.db | jq -e '.base.started == null and .head.started == null'
	"$ASSAY" history './a b/c/csv/-' --csv --db u.db >h.csv
	[ "$(cut -d , -f 1,4 h.csv | tr '\n' ' ')" = 'run,started_ns 1, 2, ' ]
	"$ASSAY" export junit r2 -o j.xml --db u.db
	grep -q 'classname="./a b/c" name="csv/-"' j.xml
	command -v gnuplot >/dev/null || return 0
	"$ASSAY" plot trend './a b/c/csv/-' -o t.svg --db u.db && grep -q '>imported<' t.svg
	"$ASSAY" plot trend './a b/c/csv/-' --by date -o t.svg --db u.db && grep -q 'its import where it has no date' t.svg
}

@test "a benchmark that is gone fails the gate until a baseline without it is saved" {
	local line
	for line in 'a,1,s\na,1.01,s\nb,1,s\nb,1.01,s' 'a,1.001,s\na,1.011,s' 'a,1.002,s\na,1.012,s'; do
		printf '%b\n' "$line" | "$ASSAY" import csv - --machine m --db gone.db
	done
	for run in 2 3; do
		run --separate-stderr "$ASSAY" gate --run "$run" --db gone.db --json
		[ "$status" = 4 ]
		jq -e '[.cases[] | select(.verdict == "NOT_MEASURED") | .key] == ["b/csv/-"]' <<<"$output"
	done
	"$ASSAY" baseline save without --run 2 --db gone.db
	run --separate-stderr "$ASSAY" gate --run 3 --db gone.db
	[ "$status" != 4 ] && [[ $output != *NOT_MEASURED* ]]
}
