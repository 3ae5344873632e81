#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Exact counts: equal on every repeat, recorded, judged by function; and what stands in their place where there is no valgrind.
load helpers

EXACT=$ASSAY_SOURCE/tests/fixtures/exact

# Several tests begin with both cases of the fixture, counted once.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	count --only '*' --db all.db >first.json || true
}

# Where nothing can be counted (no valgrind, or a program that cannot run under it) that is all there is to say.
needs_valgrind() {
	local why
	why=$(jq -r '.cases[0] | select(.status == "skipped") | .reason' "$BATS_FILE_TMPDIR/first.json")
	[ -z "$why" ] || skip "$why"
	cp "$BATS_FILE_TMPDIR/first.json" .
}

# The counts of FILE, without what differs from run to run.
counts() {
	jq -S '.cases' "$1"
}

count() {
	"$ASSAY" run --evidence exact --bench-dir "$EXACT" --json "$@"
}

@test "counts are equal on every repeat, beside a busy process, elsewhere and with another environment" {
	needs_valgrind
	jq -e '[.cases[] | .status == "ok" and .counters.instructions.value > 0 and .counters.instructions.source == "exact"] | all' first.json
	# under the names that a policy takes
	jq -e '.cases[0] | .metrics.exact_d1_hit_rate.value as $r | $r > 0 and $r <= 1 and (.metrics | keys | all(startswith("exact_")))
		and .metrics.exact_instructions.value == .counters.instructions.value' first.json
	jq -e '.cases | length == 2' first.json
	# the warm one has all lines in the last level
	jq -e '.cases[0].counters.ll_misses.value < 16' first.json
	# theory: 4096 elements of q8_0 are read (34 bytes for 32) and 16 KiB of floats written, each line missed once, and little else;
	# a store is between one element and a vector of 64 bytes
	jq -e '((4096 * 34 / 32 + 4096 * 4) / 64) as $lines | .cases[1].counters | .d1_misses.value >= $lines and
		.d1_misses.value <= $lines + 64 and .ll_misses.value >= $lines and .ll_misses.value <= $lines + 128' first.json
	jq -e '.cases[] | .counters.data_writes.value | . >= 4096 * 4 / 64 and . <= 4096 + 64' first.json
	mkdir -p some/other/folder
	cp -r "$ASSAY_BUILD/bin" some/other/folder/
	ln -s "$ASSAY_BUILD/plugins" "$ASSAY_BUILD/share" some/other/folder/
	bash -c 'for ((i = 0; i < 300000; i++)); do :; done' &
	LONGER=$(printf '%3000s' x) some/other/folder/bin/assay run --evidence exact --bench-dir "$EXACT" --only '*' --json --db o.db >other.json
	wait
	[ "$(counts first.json)" = "$(counts other.json)" ]
}

# The expected counts of each case of tests/fixtures/theory. Lines: of 64 bytes that it must read or write; from empty caches each is missed once.
# Reads, writes: from the widest vectors that there are (64 bytes; of avx2 its own 32) to what is said below; nothing is said of what
# compilers decide. v: values of 8 floats each; p: multiply-adds. Blocks have 34 bytes for 32 values (q8_0), 66 for 256 (tq2_0).
#   GEMM     reads two values a multiply-add; avx2 multiplies 32 at a time, with up to 12 instructions to unpack, add and step;
#            of the two tiles of 4 tokens, the first keeps the codes of a pass, two vectors for each of 64 lines, and sums are 32 bits
#   quantize reads each float in one pass or two; i2_s sums single values in double precision
#   stream   works on 16 MiB a call, which the first level holds, copy on as many bytes read as written, the triad on twice as many
#   peak     does 384 lanes in 16384 steps, and up to a quarter more for the loop, 512 around it; a dot product is three instructions
theory() {
	local v=1024 d=2048 p=65536 g=131072 s=16777216 f=786432
	cat <<-END
	matmul.f32/ref/m=64,k=128,n=4       $(((64 * 128 + 4 * 128 + 4 * 64) / 16)) 4096..69632 16..1024 -
	matmul.ternary/ref/m=256,k=256,n=1  $(((p / 4 + 256 + 256 * 4) / 64)) - $((256 / 16))..$p -
	matmul.ternary/avx2/m=256,k=256,n=1 $(((p / 4 + 256 + 256 * 4) / 64)) $((p / 4 / 32))..$((2 * p / 32)) $((256 / 8))..$((p / 32)) $((p / 32))..$((12 * p / 32))
	matmul.ternary/ref/m=64,k=256,n=8   $(((64 * 256 / 4 + 8 * 256 + 8 * 64 * 4) / 64)) - $((512 / 16))..$g -
	matmul.ternary/avx2/m=64,k=256,n=8  $(((64 * 256 / 4 + 8 * 256 + 8 * 64 * 4 + 64 * 2 * 32 + 8 * 64 * 4) / 64)) $((8 * 256 / 32))..$((2 * g / 32)) $((512 / 8))..$((g / 32)) $((g / 32))..$((12 * g / 32))
	quantize.i2_s/avx2/n=8192           $(((8 * v * 4 + 8 * v / 4) / 64)) $((2 * v))..$((12 * v)) $((8 * v / 4 / 32))..$((v)) -
	quantize.tq2_0/avx2/n=8192          $(((8 * v * 4 + 32 * 66) / 64)) $v..$((3 * v)) $((32 * 66 / 32))..$((v)) -
	quantize.q8_0/ref/n=8192            $(((8 * v * 4 + 256 * 34) / 64)) $((v / 2))..$((64 * v)) $((256 * 34 / 64))..$((32 * v)) -
	quantize.q8_0/avx2/n=8192           $(((8 * v * 4 + 256 * 34) / 64)) $v..$((3 * v)) $((256 * 34 / 32))..$((v)) -
	quantize.i8_token/avx2/*            $(((8 * v * 4 + 8 * v + 8 * 4) / 64)) $v..$((3 * v)) $((8 * v / 32))..$((v)) -
	dequantize.i2_s/ref/n=16384         $(((8 * d / 4 + 8 * d * 4) / 64)) - $((d / 2))..$((8 * d + 64)) -
	dequantize.i2_s/avx2/n=16384        $(((8 * d / 4 + 8 * d * 4) / 64)) $((8 * d / 4 / 32))..$((d + d / 2)) $d..$((d + 128)) -
	dequantize.tq2_0/avx2/n=16384       $(((64 * 66 + 8 * d * 4) / 64)) $((64 * 66 / 32))..$((d + d / 2)) $d..$((d + 128)) -
	dequantize.q8_0/avx2/n=16384        $(((512 * 34 + 8 * d * 4) / 64)) $((512 * 34 / 32))..$((d + d / 2)) $d..$((d + 128)) -
	dequantize.i8_token/avx2/*          $(((8 * d + 16 * 4 + 8 * d * 4) / 64)) $((8 * d / 32))..$((d + d / 2)) $d..$((d + 128)) -
	stream.copy/ref/*                   0 $((99 * s / 200 / 64))..$((101 * s / 200 / 4)) $((99 * s / 200 / 64))..$((101 * s / 200 / 4)) -
	stream.copy/avx2/*                  0 $((99 * s / 200 / 32))..$((101 * s / 200 / 32)) $((99 * s / 200 / 32))..$((101 * s / 200 / 32)) -
	stream.triad/ref/*                  0 $((99 * s / 150 / 64))..$((101 * s / 150 / 4)) $((99 * s / 300 / 64))..$((101 * s / 300 / 4)) -
	stream.triad/avx2/*                 0 $((99 * s / 150 / 32))..$((101 * s / 150 / 32)) $((99 * s / 300 / 32))..$((101 * s / 300 / 32)) -
	peak.f32_fma/avx2/*                 16 0..4096 0..4096 $f..$((5 * f / 4 + 512))
	peak.i8_dot/avx2/*                  16 0..4096 0..4096 $((3 * f))..$((3 * 5 * f / 3))
	END
}

# within NAME VALUE RANGE
within() {
	[ "$3" = - ] || [ "$2" -ge "${3%..*}" -a "$2" -le "${3#*..}" ] || echo "$key: $1 are $2, not $3"
}

@test "counts of every family agree with theory" {
	local key reads writes instructions d1 ll glob lines least bounds rows=0
	needs_valgrind
	"$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/tests/fixtures/theory" --json >theory.json
	jq -e '[.cases[] | .status == "ok" or (.status == "skipped" and (.key | test("avx2")))] | all' theory.json
	theory >bounds
	while read -r key reads writes instructions d1 ll; do
		while read -r -a bounds; do
			glob=${bounds[0]} lines=${bounds[1]}
			# shellcheck disable=SC2053
			[[ $key == $glob/* ]] || continue
			rows=$((rows + 1))
			least=$lines
			[ "${key##*/}" = cold ] || least=0
			# besides: the stack, tables, the job itself, and in the last level up to 16 KiB of code
			within 'D1 misses' "$d1" "$least..$((lines + 96))"
			within 'LL misses' "$ll" "$least..$((lines + 96 + 256))"
			within reads "$reads" "${bounds[2]}"
			within writes "$writes" "${bounds[3]}"
			within instructions "$instructions" "${bounds[4]}"
		done <bounds
	done < <(jq -r '.cases[] | select(.status == "ok") | [.key, (.counters | .data_reads, .data_writes, .instructions, .d1_misses, .ll_misses
		| .value)] | @tsv' theory.json) >wrong
	cat wrong
	[ ! -s wrong ]
	# each case has bounds, and each bound a case unless this CPU has no AVX2
	[ "$rows" = "$(jq '[.cases[] | select(.status == "ok")] | length' theory.json)" ]
	[ "$(jq '.cases | length' theory.json)" = "$(wc -l <bounds)" ]
}

@test "what an op keeps from call to call does not make two counts differ" {
	needs_valgrind
	"$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/bench/agreement" --suite all --counter-source callgrind \
		--only 'generate.decode/ref/*,sampler=greedy/*' --json >decode.json
	jq -e '[.cases[].status] == ["ok"]' decode.json
}

@test "counts are recorded, pass, and fail by function when one has changed" {
	needs_valgrind
	count >now.json
	# all cases are told, and the one that the suite names is counted
	jq -e '.cases | length == 2 and (map(.status) == ["ok", "skipped"])' now.json
	: >plain.conf
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file record.json
	[[ $output == *"no exact counts are recorded; record them with 'assay baseline update --exact'"* ]]
	run -0 "$ASSAY" baseline update --exact --exact-file record.json
	[[ $output == *"exact counts of 1 case recorded in record.json"* ]]
	run -0 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file record.json
	[[ ${lines[0]} == "PASS: counts "* ]]

	# as if the kernel had needed 1000 instructions less when it was recorded
	jq '.builds[0].cases[] |= (.["(total)"][0] -= 1000 | .dequantize_q8_0[0] -= 1000)' record.json >less.json
	run -1 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file less.json
	[[ $output == *REGRESSED*exact_instructions* && $output == *"dequantize_q8_0: instructions +"*" % ("*" → "* ]]
	run -1 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file less.json --json
	jq -e '.exit == 1 and .cases[0].evidence == "exact" and .cases[0].metric == "exact_instructions" and .cases[0].ratio > 1' <<<"$output"
	# as if it had needed 1000 more: the record is out of date
	jq '.builds[0].cases[] |= (.["(total)"][0] += 1000 | .dequantize_q8_0[0] += 1000)' record.json >more.json
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file more.json --json
	jq -e '.exit == 5 and (.cases[0] | .verdict == "INCOMPARABLE" and .metric == "exact_instructions" and .ratio < 1 and (.reason |
		test("^fewer than in more.json, which is out of date: .assay baseline update --exact. records these; dequantize_q8_0: ")))' \
		<<<"$output"
	printf 'exact "*" { allow = {"instructions 1000"} }\n' >wide.conf
	run -0 "$ASSAY" gate --evidence exact --policy wide.conf --exact-file less.json
	printf 'limit "*" { require = {"exact_d1_hit_rate >= 100%%"} }\n' >floor.conf
	# a recorded case that was not counted, and one below the floor
	sed 's/n=4096/n=8192/' record.json >gone.json
	run -4 "$ASSAY" gate --evidence exact --policy floor.conf --exact-file gone.json --db "$BATS_FILE_TMPDIR/all.db"
	[[ $output == *"in gone.json, but not counted"* && $output == *"exact_d1_hit_rate is"*" %, below the floor of 100 %"* ]]

	export KEEP_DB=1
	# what the evidence has no use for would be believed to bind
	for option in "--manifest none" "--baseline main" --allow-no-baseline; do
		# shellcheck disable=SC2086
		fails 2 "${option% *} is for times, and --evidence exact judges counts alone: drop one" gate --evidence exact $option
	done
	fails 2 "--exact-file is for counts, and --evidence stored judges none: drop one" gate --evidence stored --exact-file record.json
	# another compiler's counts are no measure
	jq '.builds[0].compiler = "other 1.0"' record.json >other.json
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file other.json
	[[ $output == *"counts are recorded for 'other 1.0', and code for "*" has others; record them with"* ]]
}

@test "a demand on t=all binds where counts are judged alone" {
	needs_valgrind
	printf 'limit "*/n=4096/t=all/*" { require = {"exact_instructions <= 1"} }\n' >all.conf
	count --only '*/warm' --threads all --counter-source callgrind >all.json || true
	[[ $(jq -r '.cases[0].key' all.json) != */t=1/* ]] || skip "one core has no other case than t=1"
	run -4 "$ASSAY" gate --evidence exact --policy all.conf --exact-file none.json --json
	jq -e '.cases | map([.metric, .verdict]) == [["exact", "NOT_MEASURED"], ["exact_instructions", "NOT_MEASURED"]]' <<<"$output"
}

@test "without a manifest the newest run tells which cases of the suite owe a count" {
	needs_valgrind
	printf 'limit "*" { require = {"exact_instructions >= 1"} }\n' >counted.conf
	# of two cases one is counted, and nothing is told of the other
	count --suite timed --only '*/n=4096/*' >/dev/null
	run -5 "$ASSAY" gate --evidence exact --suite timed --policy counted.conf --exact-file none.json --json
	jq -e '[.cases[] | select(.metric == "exact_instructions") | .verdict] == ["PASS"]' <<<"$output"
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$EXACT" --suite timed --evidence stored >/dev/null
	run -4 "$ASSAY" gate --evidence exact --suite timed --policy counted.conf --exact-file none.json --json
	jq -e '[.cases[] | select(.metric == "exact_instructions") | .verdict] == ["PASS", "NOT_MEASURED"]' <<<"$output"
	# counts of the suite tell of both themselves
	rm assay.db*
	count --suite timed >/dev/null
	run -4 "$ASSAY" gate --evidence exact --suite timed --policy counted.conf --exact-file none.json --json
	jq -e '[.cases[] | select(.metric == "exact_instructions") | .verdict] == ["PASS", "NOT_MEASURED"]' <<<"$output"
}

@test "a run counts what its suite names, shows it, and the gate judges both" {
	needs_valgrind
	# of two cases that are timed, one is counted
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$EXACT" --suite timed >brief.txt
	grep -q '^counts    1 of 1 cases counted exactly$' brief.txt
	run ! grep -q 'exact counts of one run' brief.txt
	rm assay.db*
	ASSAY_DETERMINISTIC=1 "$ASSAY" run -v --bench-dir "$EXACT" --suite timed >run.txt
	grep -q 'exact counts of one run' run.txt
	grep -q '1 of 1 counted' run.txt
	grep -q '^    exact_d1_hit_rate [0-9.]* %, exact_ll_hit_rate [0-9.]* %, exact_branch_hit_rate [0-9.]* %$' run.txt
	"$ASSAY" baseline update --exact --suite timed --exact-file record.json
	"$ASSAY" list --manifest --bench-dir "$EXACT" --suite timed >timed.manifest
	printf 'limit "*/n=4096/*" { require = {"exact_instructions >= 1", "exact_d1_hit_rate <= 100%%"} }\n' >limits.conf
	run -0 "$ASSAY" gate --suite timed --manifest timed.manifest --policy limits.conf --allow-no-baseline --exact-file record.json --json
	jq -e '[.cases[] | select(.metric == "exact" and .verdict == "PASS")] | length == 1' <<<"$output"
	jq -e '[.cases[] | select(.metric == "exact_instructions" and .verdict == "PASS")] | length == 1' <<<"$output"
	run -0 --separate-stderr "$ASSAY" gate --suite timed --manifest timed.manifest --policy limits.conf --allow-no-baseline --exact-file record.json
	[[ ${lines[0]} == "PASS: run 1 ("*") against record.json: correctness, manifest and limits passed, counts are as recorded; speed was not judged" ]]
	run -0 --separate-stderr "$ASSAY" gate --suite timed --manifest timed.manifest --policy limits.conf --allow-no-baseline --exact-file none.json
	[[ $stderr == *"exact counts were not judged: no exact counts are recorded"* ]]
	# nothing was held against a file that has none of them
	[[ ${lines[0]} == "PASS: run 1 ("*"): correctness, manifest and limits passed; speed was not judged" ]]
	KEEP_DB=1 fails 2 "no exact counts of run 99 in 'assay.db': there is no such run" gate --evidence exact --run 99
	KEEP_DB=1 fails 2 "run 1 is of suite 'timed', not 'quick': leave out --suite or --run" gate --evidence exact --run 1 --suite quick \
		--policy limits.conf --exact-file record.json
	run -0 "$ASSAY" show 1 'n=4096'
	[[ $output == *"exact_d1_hit_rate "*" %, exact_ll_hit_rate "* ]]
	[[ $output == *"dequantize_q8_0"* ]]
	run -0 "$ASSAY" show 1 --json
	jq -e '.exact.cases[0].functions | length > 0' <<<"$output"
}

@test "without valgrind the counts say so, and everything else stands" {
	mkdir empty
	run -4 --separate-stderr env PATH="$PWD/empty" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "skipped" and (.cases[0].reason | test("valgrind|sanitizer")) and .cases[0].counters == {}' <<<"$output"
	# nothing counted is nothing judged
	: >plain.conf
	run -4 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file none.json
	[[ $output == *NOT_MEASURED* ]]
	export ASSAY_DETERMINISTIC=1
	run -0 --separate-stderr env PATH="$PWD/empty" "$ASSAY" run --bench-dir "$EXACT" --only '*/warm' --json
	[[ $stderr == *"no exact counts of 1 cases: "* ]]
	jq -e '[.cases[] | .status == "ok"] | all' <<<"$output"
	printf '%s\n' "$output" >run.json
	jq -e '.cases[0].unavailable.exact | .source == "exact" and (.reason | test("valgrind|sanitizer"))' <<<"$output"
	# a demand says why it was not met
	"$ASSAY" list --manifest --bench-dir "$EXACT" --only '*/warm' >why.manifest
	printf 'limit "*" { require = "exact_d1_hit_rate >= 50%%" }\n' >why.conf
	run -4 "$ASSAY" gate --manifest why.manifest --policy why.conf --allow-no-baseline --exact-file none.json --json
	jq -e '[.cases[] | select(.metric == "exact_d1_hit_rate") | .verdict == "NOT_MEASURED" and .evidence == "exact"
		and (.reason | test("^exact_d1_hit_rate was not measured \\(.*(valgrind|sanitizer)"))] | length == 1 and all' <<<"$output"
	# recorded counts that this run has nothing for are spoken of
	jq -n --slurpfile runs run.json --slurpfile events "$ASSAY_SOURCE/baselines/exact/quick.json" \
		'$events[0] | .builds |= [.[0] | .cases = {($runs[0].cases[0].key): (.cases | to_entries[0].value)}]' >some.json
	"$ASSAY" list --manifest --bench-dir "$EXACT" --only '*/warm' >warm.manifest
	run -0 --separate-stderr "$ASSAY" gate --allow-no-baseline --manifest warm.manifest --policy plain.conf --exact-file some.json
	[[ $stderr == *"run 1 has none, and some.json has those of 1 of its cases"* ]]
}

@test "a valgrind that is too old, dies or writes half a file is a reason" {
	mkdir bin
	printf '#!/bin/sh\necho valgrind-3.9.0\n' >bin/valgrind
	chmod +x bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "skipped" and (.cases[0].reason | test("too old|sanitizer|headers"))' <<<"$output"
	run -0 env PATH="$PWD/bin:$PATH" "$ASSAY" doctor --json
	jq -e '.findings[] | select(.name == "valgrind") | .health == "none" and
		(.value | test("valgrind-3.9.0 is too old: install valgrind 3.13 or later|sanitizer"))' <<<"$output"
	needs_valgrind
	local real
	real=$(command -v valgrind)
	printf '#!/bin/sh\n[ "$1" = --version ] && exec %s --version\nkill -9 $$\n' "$real" >bin/valgrind
	# stepped counts, which a case might have instead, would be held against those of callgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "crashed" and (.cases[0].reason | test("signal 9"))' <<<"$output"
	# the process of this program that waits for it, as the system ends one that is out of memory
	printf '#!/bin/sh\n[ "$1" = --version ] && exec %s --version\nkill -9 $PPID\n' "$real" >bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --counter-source callgrind --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "crashed" and (.cases[0].reason | test("signal 9"))' <<<"$output"
	# what valgrind 3.19 says of a program by clang 14, unless that was told to write DWARF 4
	printf '#!/bin/bash\n[ "$1" = --version ] && exec %s --version\nfor a; do case $a in --log-file=*) f=${a#*=} ;; esac; done\n' \
		"$real" >bin/valgrind
	printf 'printf "Valgrind: debuginfo reader: ensure_valid failed:\\nGiving up.\\n" >"$f"\nexit 1\n' >>bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --counter-source callgrind --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "crashed" and (.cases[0].reason | endswith("compile with -gdwarf-4, or install a newer valgrind)"))' <<<"$output"
	# the same program, whose file is cut behind its back, on a machine so busy that it takes long to end
	printf '#!/bin/bash\n[ "$1" = --version ] && exec %s --version\nfor a; do case $a in --callgrind-out-file=*) f=${a#*=} ;; esac; done\n' \
		"$real" >bin/valgrind
	printf '%s "$@" || exit\nsleep 6\nhead -c 600 "$f" >"$f.half" && mv "$f.half" "$f"\n' "$real" >>bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --counter-source callgrind --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "failed" and (.cases[0].reason | test("cut short|no dump"))' <<<"$output"
}

@test "Ctrl-C keeps the counts that are finished" {
	needs_valgrind
	local cpu kept
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	cp -r "$EXACT" three
	sed -i 's/{"n=4096"}/{"n=4096", "n=8192", "n=12288"}/; s/, "cold"//' three/tiny.bench
	# one CPU has two cases at once, so the third begins when one has ended; the other may end by then
	interrupt_at_call 3
	run -130 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir three --only '*' --cpus "$cpu" --json
	[[ $stderr =~ ^"assay: interrupted: the counts of "([12])" case"s?" are kept in 'assay.db'"$ ]] || { echo "$stderr"; false; }
	kept=${BASH_REMATCH[1]}
	jq -e --argjson n "$kept" '.cases | length == $n and all(.status == "ok")' <<<"$output"
	"$ASSAY" baseline update --exact --exact-file record.json
	jq -e --argjson n "$kept" '.builds[0].cases | length == $n and (keys - ["n=4096", "n=8192", "n=12288" |
		"dequantize.q8_0/ref/\(.)/t=1/warm"]) == []' record.json
}

@test "what is asked wrongly is one line" {
	fails 2 "--evidence is 'exactly', expected exact" run --evidence exactly
	fails 2 "unknown cache model 'l1', expected canon or host" run --evidence exact --bench-dir "$EXACT" --cache-model l1
	for option in --budget=1s --rounds=2 --counters=cache --events=PAPI_TOT_INS --multiplex; do
		fails 2 "${option%%=*} applies to timing, which --evidence exact skips: drop one, or use --evidence all" \
			run --evidence exact "$option"
	done
	fails 2 "--cache-model applies to exact counts, which --evidence stored skips" run --evidence stored --cache-model canon
	fails 2 "only with update: assay baseline update --exact" baseline update
	fails 2 "no database 'assay.db'" gate --evidence exact
}

@test "counts that were taken alone are no run, and whoever asks for one is told" {
	needs_valgrind
	cp "$BATS_FILE_TMPDIR/all.db" alone.db
	fails 2 "no timed run in 'alone.db', only exact counts: 'assay gate --evidence exact --db alone.db' judges them, 'assay run --evidence all --db alone.db' measures times as well" \
		show last --db alone.db
}

@test "a percent sign in the names of folders is no pattern of valgrind's" {
	needs_valgrind
	local key top="$PWD/50%p of %q{HOME} 100%"
	key=$(jq -r '[.cases[] | select(.status == "ok" and ([.counters[].how] | all(. == "callgrind"))) | .key][0]' first.json)
	mkdir -p "$top/tmp" "$top/build"
	cp -r "$ASSAY_BUILD/bin" "$ASSAY_BUILD/plugins" "$top/build"
	ASSAY="$top/build/bin/assay" TMPDIR="$top/tmp" count --only "$key" --counter-source callgrind --db percent.db >percent.json
	[ "$(jq -S '.cases[0].counters | map_values(.value)' percent.json)" = \
		"$(jq -S --arg key "$key" '.cases[] | select(.key == $key) | .counters | map_values(.value)' first.json)" ]
	[ -z "$(ls -A "$top/tmp")" ]
}

# A plugin may hold instructions that valgrind does not know, which its variants do not declare; and valgrind may not
# start. This one says its version, and then dies as on such an instruction.
@test "what dies in valgrind alone is stepped instead, unless callgrind was asked for" {
	needs_valgrind
	key=$(jq -r '[.cases[] | select(.status == "ok" and ([.counters[].how] | all(. == "callgrind"))) | .key][0]' first.json)
	mkdir bin
	printf '#!/bin/sh\n[ "$1" = --version ] && echo valgrind-3.19.0 && exit\nkill -ILL $$\n' >bin/valgrind
	chmod +x bin/valgrind
	PATH=$PWD/bin:$PATH count --only "$key" --db dies.db >dies.json || true
	reason=$(jq -r '.cases[0].reason' dies.json)
	[[ $reason != *"cannot be stepped"* && $reason != *"nor can it be stepped"* ]] || skip "$reason"
	jq -e '.cases[0] | .status == "ok" and ([.counters[].how] | all(. == "stepped"))' dies.json
	PATH=$PWD/bin:$PATH run -4 count --only "$key" --counter-source callgrind --db asked.db
	jq -e '.cases[0].status == "crashed"' <<<"$output"
}

@test "a kernel with an instruction that valgrind does not know is stepped" {
	needs_valgrind
	grep -qw sha_ni /proc/cpuinfo || skip "this CPU has no sha_ni"
	local plugins=$ASSAY_BUILD/tests/plugins
	kernel() {
		"$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/tests/fixtures/stepped" --suite kernel --json --plugin "$plugins/example_op.so" \
			--plugin "$plugins/exact_sha.so" "$@"
	}
	kernel --counter-source callgrind --db asked.db >asked.json && skip "this valgrind knows sha256msg1"
	[ "$(jq -r '.cases[0].status' asked.json)" = crashed ]
	kernel --db chosen.db >chosen.json || [ $? = 4 ]
	reason=$(jq -r '.cases[0].reason' chosen.json)
	[[ $reason != *"cannot be stepped"* ]] || skip "$reason"
	[ "$(jq -c '.cases[0] | [.status, ([.counters[].how] | unique)]' chosen.json)" = '["ok",["stepped"]]' ]
}
