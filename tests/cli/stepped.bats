#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Exact counts by steps: equal to valgrind's where both can count, equal on every repeat, never held against each other, and a reason
# where a kernel cannot be stepped.
load helpers

STEPPED=$ASSAY_SOURCE/tests/fixtures/stepped
PLUGINS=$ASSAY_BUILD/tests/plugins

count() {
	"$ASSAY" run --evidence exact --bench-dir "$STEPPED" --json "$@" 2>words
}

needs_steps() {
	local why
	why=$("$ASSAY" doctor --json | jq -r '.findings[] | select((.name == "stepping" or .name == "code_places") and .health == "none") | .value')
	[ -z "$why" ] || skip "$why"
}

# The counts of FILE, without what differs from run to run.
counts() {
	jq -S '[.cases[] | del(.log)]' "$1"
}

@test "instructions, reads and writes are those of valgrind, misses within 1 %" {
	needs_steps
	needs_counts
	count --suite agree --counter-source callgrind >callgrind.json || true
	count --suite agree --counter-source stepped >stepped.json
	# all that this CPU runs is counted
	jq -e '[.cases[] | .status == "ok" and .how == "stepped" or (.reason | test("^needs "))] | all' stepped.json
	jq -rn --slurpfile a callgrind.json --slurpfile b stepped.json '
		[$b[0].cases[] | {key, value: .counters}] | from_entries as $stepped |
		$a[0].cases[] | select(.status == "ok") | .key as $key | .counters as $c | $stepped[$key] as $s |
		(("instructions", "data_reads", "data_writes") | select($c[.].value != $s[.].value)),
		(("d1_misses", "ll_misses") | select(($c[.].value - $s[.].value | fabs) > 4 + $c[.].value / 100)) |
		"\($key): \(.) \($c[.].value) \($s[.].value)"' >wrong
	cat wrong
	[ ! -s wrong ]
	jq -e '[.cases[] | select(.status == "ok")] | length >= 9' callgrind.json
	# theory: dequantizing writes 4 bytes an element, 64 at a time, and reads 34 bytes for 32
	jq -e '.cases[] | select(.key | startswith("dequantize.q8_0/avx512")) | select(.status == "ok") |
		(.counters.data_writes.value - 512 * 4 / 64 | . >= 0 and . <= 32) and .mix.bytes_read >= 512 * 34 / 32' stepped.json
	# and a product of 64 rows and 256 columns takes 64 of them in each VPDPBUSD, which are four multiplications and four additions a lane
	jq -e '.cases[] | select(.key | startswith("matmul.ternary/avx512vnni/")) | select(.status == "ok") |
		.mix.integer_512_operations >= 64 * 256 * 2 and .counters.d1_misses.value >= (64 * 256 / 4 + 256) / 64' stepped.json
}

@test "threads are counted each, and all counts are equal on every repeat beside a busy process" {
	needs_steps
	count >first.json
	bash -c 'for ((i = 0; i < 200000; i++)); do :; done' &
	for _ in 1 2; do
		LONGER=$(printf '%3000s' x) count >next.json
		[ "$(counts first.json)" = "$(counts next.json)" ]
	done
	wait
	jq -e '[.cases[] | select(.status == "ok" and (.key | test("/t=2/"))) | (.threads | length == 2) and .metrics.exact_imbalance.value >= 1
		and ([.threads[].instructions] | add) == .counters.instructions.value] | all' first.json
	[ "$(nproc)" = 1 ] || jq -e '[.cases[] | select(.status == "ok" and (.key | test("/t=2/")))] | length > 0' first.json
}

@test "a record by steps fails by function and line, and is not held against valgrind's" {
	needs_steps
	: >plain.conf
	count --only '*/avx2/*t=1*' --counter-source stepped >now.json
	"$ASSAY" baseline update --exact --exact-file record.json
	jq -e '.builds[0].cases[] | .["(how)"] == "stepped" and (.["(lines)"] | length > 0)' record.json
	run -0 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file record.json
	# as if a line of the kernel had read 10 times less when it was recorded
	jq '.builds[0].cases[] |= (.["(total)"][0] -= 10 | .["(total)"][1] -= 10 | .["run_tokens (matmul.so)"][0] -= 10 |
		.["run_tokens (matmul.so)"][1] -= 10 | (.["(lines)"] | to_entries | map(select(.value[1] > 100))[0].key) as $line |
		.["(lines)"][$line][0] -= 10 | .["(lines)"][$line][1] -= 10)' record.json >less.json
	run -1 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file less.json
	[[ $output == *REGRESSED*exact_data_reads*"run_tokens: data_reads +"*" at matmul_ternary_tile.h:"* ]]
	# floors
	printf 'limit "matmul.ternary/avx2/m=64,*" { require = {"exact_d1_hit_rate >= base - 0.1%%"} }\n' >floor.conf
	run -0 "$ASSAY" gate --evidence exact --policy floor.conf --exact-file record.json
	# another way to count
	jq '.builds[0].cases[] |= del(.["(how)"])' record.json >other.json
	run -5 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file other.json
	[[ $output == *INCOMPARABLE*"counted by stepping, in other.json by callgrind"* ]]
	jq '.builds[0].cases[] |= (.["(how)"] = "guessed")' record.json >bad.json
	KEEP_DB=1 fails 2 "bad.json: expected callgrind or stepped for '(how)'" gate --evidence exact --policy plain.conf --exact-file bad.json
}

@test "what cannot be stepped says so by name and address, and its times are unharmed" {
	needs_steps
	[ -e "$PLUGINS/step_hostile.so" ]
	local plugins=(--suite scale --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/step_hostile.so" --counter-source stepped)
	count "${plugins[@]}" --steps 10000 >counts.json || [ $? = 4 ]
	jq -r '.cases[] | [.key, .status, .reason] | join(" ")' counts.json >told
	grep -E "^example.scale/flags/.* skipped cannot be stepped: 'run_flags' at 0x[0-9a-f]+ \(step_hostile.c:[0-9]+\) reads or writes .*flags" told
	grep -E "^example.scale/signal/.* skipped cannot be stepped: '[a-z_]+' at 0x[0-9a-f]+ .*signals" told
	grep -E "^example.scale/thread/.* skipped cannot be stepped: '[a-z_]+' at 0x[0-9a-f]+ .*(signals|threads)" told
	grep -E "^example.scale/keeps/.* skipped cannot be stepped: the plugin keeps threads of its own, 1 beside the 1 of the case" told
	grep -E "^example.scale/dies/.* crashed killed by signal 9" told
	grep -E "^example.scale/crashes/.* crashed killed by signal" told
	grep -E "^example.scale/varies/n=256/.* failed not exact: instructions of 'run_varies' at" told
	# too long for its steps: a smaller shape is counted in its place, and both say so
	grep -E "^example.scale/ref/n=65536/.* skipped takes .*: see 'example.scale/ref/n=256/t=1/warm'$" told
	grep -E "^example.scale/ref/n=256/t=1/warm ok" told
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$STEPPED" "${plugins[@]}" --db times.db --json --only '*/flags/*' >times.json
	jq -e '.cases[0].status == "ok"' times.json
}

@test "what is asked wrongly is one line" {
	fails 2 "--counter-source is 'guess', expected callgrind, stepped or auto" run --evidence exact --counter-source guess
	fails 2 "--steps is '10', expected a whole number from 1000 to 100000000" run --evidence exact --steps 10
	for option in --counter-source=stepped --steps=5000; do
		fails 2 "${option%%=*} applies to exact counts, which --evidence stored skips" run --evidence stored "$option"
	done
}
