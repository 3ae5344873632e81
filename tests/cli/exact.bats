#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Exact counts: equal on every repeat, recorded, judged by function; and what stands in their place where there is no valgrind.
load helpers

EXACT=$ASSAY_SOURCE/tests/fixtures/exact

# What several tests begin with: both cases of the fixture, counted once.
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
	jq -e '.cases[0].metrics.d1_hit_rate.value as $r | $r > 0 and $r <= 1' first.json
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

@test "counts of several ops agree with theory" {
	needs_valgrind
	"$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/tests/fixtures/theory" --json >theory.json
	jq -e '[.cases[] | .status == "ok" or (.status == "skipped" and (.key | test("avx2")))] | all' theory.json
	# bytes moved: from empty caches each line of 64 bytes that is read or written is missed once, and little else is
	lines() {
		jq -e --arg op "$1" --argjson lines "$2" '[.cases[] | select((.key | startswith($op + "/")) and .status == "ok") | .counters |
			.d1_misses.value >= $lines and .d1_misses.value <= $lines + 64 and
			.ll_misses.value >= $lines and .ll_misses.value <= $lines + 128] | length > 0 and all' theory.json
	}
	lines matmul.f32 $(((64 * 128 + 4 * 128 + 4 * 64) * 4 / 64))         # weights, activations, outputs
	lines matmul.ternary $(((256 * 256 / 4 + 256 + 256 * 4) / 64))       # 2 bits a weight, int8, int32
	lines quantize.q8_0 $(((16384 * 4 + 16384 / 32 * 34) / 64))          # 34 bytes a block of 32
	lines dequantize.i2_s $(((16384 / 4 + 16384 * 4) / 64))
	# a multiply-add reads two values, of which a vector of 64 bytes holds 16; a store is one element or such a vector
	jq -e '(64 * 128 * 4) as $macs | .cases[] | select(.key | startswith("matmul.f32/")) | .counters.data_reads.value |
		. >= 2 * $macs / 16 and . <= 2 * $macs + 4096' theory.json
	jq -e '.cases[] | select(.key | startswith("dequantize.i2_s/")) | .counters.data_writes.value | . >= 16384 / 16 and . <= 16384 + 64' theory.json
	# the triad reads two values for each that it writes, and 16 MiB a call in all, out of the first level
	jq -e '[.cases[] | select((.key | startswith("stream.triad/")) and .status == "ok") | .counters |
		(.data_reads.value / .data_writes.value) as $r | $r > 1.98 and $r < 2.02 and .d1_misses.value <= 64 and
		.data_reads.value + .data_writes.value >= 0.99 * 16777216 / 64 and
		.data_reads.value + .data_writes.value <= 1.01 * 16777216 / 4] | length > 0 and all' theory.json
	# in vectors of 32 bytes that is a known number of loads and stores, and the peak a known number of multiply-adds: 384 lanes,
	# 16384 steps, and the loop around them
	jq -e '[.cases[] | select((.key | contains("/avx2/")) and .status == "ok") |
		if .key | startswith("stream.triad/") then
			(.counters.data_reads.value + .counters.data_writes.value) * 32 / 16777216 | . > 0.99 and . < 1.01
		elif .key | startswith("peak.f32_fma/") then
			.counters.instructions.value / (384 * 16384 / 8) | . >= 1 and . < 1.25
		else true end] | all' theory.json
}

@test "counts are recorded, pass, and fail by function when one has changed" {
	needs_valgrind
	count >now.json
	jq -e '.cases | length == 1' now.json
	: >plain.conf
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file record.json
	[[ $output == *"no exact counts are recorded; record them with 'assay baseline update --exact --suite quick'"* ]]
	run -0 "$ASSAY" baseline update --exact --exact-file record.json
	[[ $output == *"exact counts of 1 cases recorded in record.json"* ]]
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
		test("^fewer than in more.json, which is out of date: .assay baseline update --exact --suite quick. records these; dequantize_q8_0: ")))' \
		<<<"$output"
	printf 'exact "*" { allow = {"instructions 1000"} }\n' >wide.conf
	run -0 "$ASSAY" gate --evidence exact --policy wide.conf --exact-file less.json
	printf 'limit "*" { require = {"exact_d1_hit_rate >= 100%%"} }\n' >floor.conf
	# a recorded case that was not counted, and one below the floor
	sed 's/n=4096/n=8192/' record.json >gone.json
	run -4 "$ASSAY" gate --evidence exact --policy floor.conf --exact-file gone.json --db "$BATS_FILE_TMPDIR/all.db"
	[[ $output == *"in gone.json, but not counted"* && $output == *"exact_d1_hit_rate is"*"floor 1"* ]]

	# another compiler's counts are no measure
	jq '.builds[0].compiler = "other 1.0"' record.json >other.json
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file other.json
	[[ $output == *"only of other 1.0; record them with"* ]]
}

@test "a run counts what its suite names, shows it, and the gate judges both" {
	needs_valgrind
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$EXACT" >run.txt
	grep -q 'exact counts of one run' run.txt
	grep -q '1 of 1 counted' run.txt
	"$ASSAY" baseline update --exact --exact-file record.json
	"$ASSAY" list --manifest --bench-dir "$EXACT" >quick.manifest
	printf 'limit "*/warm" { require = {"exact_instructions >= 1", "exact_d1_hit_rate <= 100%%"} }\n' >limits.conf
	run -0 "$ASSAY" gate --manifest quick.manifest --policy limits.conf --allow-no-baseline --exact-file record.json --json
	jq -e '[.cases[] | select(.metric == "exact" and .verdict == "PASS")] | length == 1' <<<"$output"
	jq -e '[.cases[] | select(.metric == "exact_instructions" and .verdict == "PASS")] | length == 1' <<<"$output"
	run -0 --separate-stderr "$ASSAY" gate --manifest quick.manifest --policy limits.conf --allow-no-baseline --exact-file none.json
	[[ $stderr == *"exact counts were not judged: no exact counts are recorded"* ]]
	run -0 "$ASSAY" show 1 '*/warm'
	[[ $output == *"dequantize_q8_0"* ]]
	run -0 "$ASSAY" show 1 --json
	jq -e '.exact.cases[0].functions | length > 0' <<<"$output"
}

@test "without valgrind the counts say so, and everything else stands" {
	mkdir empty
	run -0 --separate-stderr env PATH="$PWD/empty" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "skipped" and (.cases[0].reason | test("valgrind|sanitizer")) and .cases[0].counters == {}' <<<"$output"
	export ASSAY_DETERMINISTIC=1
	run -0 --separate-stderr env PATH="$PWD/empty" "$ASSAY" run --bench-dir "$EXACT" --only '*/warm' --json
	[[ $stderr == *"no exact counts of 1 cases: "* ]]
	jq -e '[.cases[] | .status == "ok"] | all' <<<"$output"
}

@test "a valgrind that is too old, dies or writes half a file is a reason" {
	mkdir bin
	printf '#!/bin/sh\necho valgrind-3.9.0\n' >bin/valgrind
	chmod +x bin/valgrind
	run -0 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "skipped" and (.cases[0].reason | test("too old|sanitizer|headers"))' <<<"$output"
	run -0 env PATH="$PWD/bin:$PATH" "$ASSAY" doctor --json
	jq -e '.findings[] | select(.name == "valgrind") | .health == "none" and
		(.value | test("valgrind-3.9.0 is too old: install valgrind 3.13 or later|sanitizer"))' <<<"$output"
	needs_valgrind
	local real
	real=$(command -v valgrind)
	printf '#!/bin/sh\n[ "$1" = --version ] && exec %s --version\nkill -9 $$\n' "$real" >bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "crashed" and (.cases[0].reason | test("signal 9"))' <<<"$output"
	# the same program, whose file is cut behind its back
	printf '#!/bin/bash\n[ "$1" = --version ] && exec %s --version\nfor a; do case $a in --callgrind-out-file=*) f=${a#*=} ;; esac; done\n' \
		"$real" >bin/valgrind
	printf '%s "$@" || exit\nhead -c 600 "$f" >"$f.half" && mv "$f.half" "$f"\n' "$real" >>bin/valgrind
	run -4 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --json
	jq -e '.cases[0].status == "failed" and (.cases[0].reason | test("cut short|no dump"))' <<<"$output"
}

@test "Ctrl-C keeps the counts that are finished" {
	needs_valgrind
	# who would count the second case interrupts the one that started it
	mkdir bin
	printf '#!/bin/bash\n[ "$1" = --version ] || echo >>calls\n[ ! -e calls ] || [ "$(wc -l <calls)" -lt 2 ] || kill -INT $PPID\nexec %s "$@"\n' \
		"$(command -v valgrind)" >bin/valgrind
	chmod +x bin/valgrind
	run -130 --separate-stderr env PATH="$PWD/bin:$PATH" "$ASSAY" run --evidence exact --bench-dir "$EXACT" --only '*' --json
	[ "$stderr" = "assay: interrupted: the counts of 1 case are kept in 'assay.db'" ]
	jq -e '.cases | length == 1 and .[0].status == "ok"' <<<"$output"
	"$ASSAY" baseline update --exact --exact-file record.json
	jq -e '.builds[0].cases | keys == ["dequantize.q8_0/ref/n=4096/t=1/warm"]' record.json
}

@test "what is asked wrongly is one line" {
	fails 2 "--evidence is 'exactly', expected exact" run --evidence exactly
	fails 2 "unknown cache model 'l1', expected canon or host" run --evidence exact --bench-dir "$EXACT" --cache-model l1
	fails 2 "only with update: assay baseline update --exact" baseline update
	fails 2 "no database 'assay.db'" gate --evidence exact
}
