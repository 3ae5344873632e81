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
	why=$("$ASSAY" doctor --json | jq -r '.findings[] | select((.name == "stepping" or .name == "code_places") and .health == "none") | .value' | head -n 1)
	[ -z "$why" ] || skip "$why"
}

# The counts of FILE, without what differs from run to run.
counts() {
	jq -S '[.cases[] | del(.log)]' "$1"
}

@test "both ways to count agree, and AVX-512 counts what theory says" {
	needs_steps
	needs_counts
	run -0 env ASSAY="$ASSAY" "$ASSAY_SOURCE/bench/exact_agreement.sh" short
	[[ $output == *" cases counted in both ways"*AGREES && $output != *DIFFERS* ]]
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
	# in every format
	run -1 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file less.json --markdown r.md --junit r.xml --json-file r.json
	tr -d '\\' <r.md | grep -q 'run_tokens: data_reads +.* at matmul_ternary_tile.h:[0-9]'
	grep -q 'run_tokens: data_reads +.* at matmul_ternary_tile.h:[0-9]' r.xml
	jq -e '[.cases[] | select(.metric == "exact_data_reads")][0].reason | test("^run_tokens: data_reads .* at matmul_ternary_tile.h:[0-9]+")' r.json
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

@test "a kernel longer by a thousandth, or one that reads a line in a thousand more, fails by function and line" {
	local source side demand
	needs_steps
	needs_counts
	: >plain.conf
	for source in stepped callgrind; do
		for side in base longer reads; do
			cp "$PLUGINS/exact_$side.so" kernel.so
			count --suite kernel --plugin "$PLUGINS/example_op.so" --plugin ./kernel.so --counter-source "$source" \
				--db "$source.db" >counts.json
			jq -e '.cases | length == 1 and .[0].status == "ok"' counts.json
			demand=(gate --evidence exact --suite kernel --policy plain.conf --exact-file "$source.json" --db "$source.db")
			case $side in
			base)
				"$ASSAY" baseline update --exact --suite kernel --exact-file "$source.json" --db "$source.db"
				run -0 "$ASSAY" "${demand[@]}"
				;;
			longer)
				run -1 "$ASSAY" "${demand[@]}"
				[[ $output == *"REGRESSED"*"exact_instructions  +0.1"*"run_kernel: instructions +0.1"*" at exact_base.c:36"* ]]
				;;
			reads)
				run -1 "$ASSAY" "${demand[@]}"
				[[ $output == *"REGRESSED"*"exact_d1_misses"*"run_kernel: d1_misses +0.09"*" at exact_base.c:30"* ]]
				;;
			esac
		done
	done
}

@test "what a kernel asks of the harness leaves its cache alone, so that both ways see the same misses" {
	local source
	needs_steps
	needs_counts
	for source in stepped callgrind; do
		count --suite kernel --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/exact_services.so" --counter-source "$source" \
			--db "$source.db" >"$source.json"
	done
	# a set of twelve lines that a service disturbs is read again in each of four rounds; the first lines of a cold stack are four
	jq -e -n --slurpfile a callgrind.json --slurpfile b stepped.json '[$a, $b | .[0].cases[0] | select(.status == "ok").counters] |
		.[0].instructions.value == .[1].instructions.value and .[0].d1_misses.value > 768 and
		(.[1].d1_misses.value - .[0].d1_misses.value | . >= 0 and . <= 4)'
}

@test "what cannot be stepped says so by name and address, and its times are unharmed" {
	needs_steps
	[ -e "$PLUGINS/step_hostile.so" ]
	local plugins=(--suite scale --plugin "$PLUGINS/example_op.so" --plugin "$PLUGINS/step_hostile.so" --counter-source stepped)
	count "${plugins[@]}" --steps 10000 >counts.json || [ $? = 4 ]
	jq -r '.cases[] | [.key, .status, .reason] | join(" ")' counts.json >told
	grep -E "^example.scale/flags/.* skipped cannot be stepped: 'run_flags' at 0x[0-9a-f]+ \(step_hostile.c:[0-9]+\) reads or writes .*flags" told
	grep -E "^example.scale/trap/.* skipped cannot be stepped: 'run_trap' at 0x[0-9a-f]+ \(step_hostile.c:[0-9]+\) raises SIGTRAP or" told
	grep -E "^example.scale/unknown/.* skipped cannot be stepped: 'run_unknown' at 0x[0-9a-f]+ \(.*\) is not a known instruction: 0f 04" told
	# a kernel without calls of 32 bits kills who makes one, stepped or not
	local timed='[ftuoc]' n_timed=7
	"$ASSAY" run --bench-dir "$STEPPED" "${plugins[@]}" --db old.db --json --only '*/old_call/*' --budget 5ms >old.json || :
	if jq -e '.cases[0].status == "crashed"' old.json; then
		timed='[ftuc]' n_timed=6
		grep -E "^example.scale/old_call/.* crashed killed by signal" told
	else
		grep -E "^example.scale/old_call/.* skipped cannot be stepped: 'run_old_call' at 0x[0-9a-f]+ \(.*\) calls the system as programs of 32 bits" told
	fi
	grep -E "^example.scale/changes/.* skipped cannot be stepped: code at 0x[0-9a-f]+ changed while it ran: b8 01 00 00 00$" told
	# system calls are no obstacle
	grep -E "^example.scale/calls/n=256/t=1/warm ok" told
	grep -E "^example.scale/signal/.* skipped cannot be stepped: '[a-z_]+' at 0x[0-9a-f]+ .*signals" told
	grep -E "^example.scale/thread/.* skipped cannot be stepped: '[a-z_0-9]+' at 0x[0-9a-f]+ .*(starting a thread does|starts threads or)" told
	grep -E "^example.scale/keeps/.* skipped cannot be stepped: the plugin keeps threads of its own, 1 beside the 1 of the case" told
	grep -E "^example.scale/dies/.* crashed killed by signal 9" told
	grep -E "^example.scale/crashes/.* crashed killed by signal" told
	grep -E "^example.scale/varies/n=256/.* failed not exact: instructions of 'run_varies' at" told
	# too long for its steps: a smaller shape is counted in its place, and both say so
	grep -E "^example.scale/ref/n=65536/.* skipped takes .*: see 'example.scale/ref/n=256/t=1/warm'$" told
	grep -E "^example.scale/ref/n=256/t=1/warm ok" told
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$STEPPED" "${plugins[@]}" --db times.db --json --only "*/$timed[lnah]*/*" --only '*/trap/*' >times.json
	jq -e --argjson n $n_timed '[.cases[] | .status == "ok"] | length == $n and all' times.json
}

@test "two builds are compared at the shape that stands for one that takes too many steps" {
	needs_steps
	: >plain.conf
	local op=$PLUGINS/example_op.so
	compare() {
		"$ASSAY" compare "$op" "$op" --bench-dir "$STEPPED" --suite scale --evidence exact --counter-source stepped --policy plain.conf "$@"
	}
	run -0 --separate-stderr compare --steps 10000 --json
	jq -e '[.cases[] | .verdict == "PASS"] | all' <<<"$output"
	jq -e '.cases[] | select(.key == "example.scale/ref/n=256/t=1/warm").reason | startswith("counts are those of ")' <<<"$output"
	jq -e '.cases[] | select(.key == "example.scale/ref/n=65536/t=1/warm").reason |
		test("^skipped: takes about .*, more than the limit of 10 000: see .example.scale/ref/n=256/t=1/warm.$")' <<<"$output"
	run -0 compare --steps 10000
	[[ $output == *"smaller shapes were counted for "*", such as 'example.scale/"*"more than the limit of 10 000: see 'example.scale/"* ]]
}

@test "what does not fit into the time for all counts is named, and what is recorded is then missing" {
	needs_steps
	: >plain.conf
	count >now.json
	"$ASSAY" baseline update --exact --exact-file record.json
	count --exact-budget 1us >late.json || [ $? = 4 ]
	jq -e '[.cases[] | .status == "skipped" and (.reason | test("^the .* for all counts ended before its turn|^needs "))] | all' late.json
	grep -E "no time for exact counts of [0-9]+ cases within .*: 'matmul.ternary/.*; --exact-budget sets it" words
	run -4 "$ASSAY" gate --evidence exact --policy plain.conf --exact-file record.json
	[[ $output == *NOT_MEASURED*"for all counts ended before its turn"* ]]
	# of a suite that names no case for counts everything is, in one's own time
	count --only '*/avx2/*t=1*' --exact-budget 1min >only.json
	jq -e '.cases | length == 1 and .[0].status == "ok"' only.json
}

@test "the time for all counts is that of the processor, not that of a machine which does something else" {
	needs_steps
	local used pid
	TIMEFORMAT='%U %S'
	used=$({ time count --counter-source stepped >first.json; } 2>&1 | awk '{ print int($1 + $2 + 1) }')
	# all of it stands still for longer than its counts may take
	set -m
	count --counter-source stepped --exact-budget "$((3 * used))s" >next.json &
	pid=$!
	sleep 0.2
	kill -STOP -- -$pid || true # a fast machine may be done
	sleep $((3 * used + 1))
	kill -CONT -- -$pid || true
	wait $pid
	set +m
	jq -e '[.cases[] | select(.status == "ok")] | length > 0' first.json
	[ "$(counts first.json)" = "$(counts next.json)" ]
}

@test "what a call takes in steps is told by its record before it is paid" {
	needs_steps
	mkdir -p mine/exact
	printf 'build = "true"\nplugins = "none"\nbaselines = "mine"\n' >assay.conf
	count --only '*/avx2/*t=1*' --counter-source stepped >now.json
	"$ASSAY" baseline update --exact --exact-file now.record
	# as if the kernel had taken longer than there is time for
	jq '.builds[0].cases[] |= (.["(total)"][0] += 99000000 | .["run_tokens (matmul.so)"][0] += 99000000)' now.record >mine/exact/quick.json
	count --only '*/avx2/*t=1*' --counter-source stepped --steps 100000000 --exact-budget 60s >late.json || [ $? = 4 ]
	jq -e '.cases[0] | .status == "skipped" and (.reason |
		test("^its 198 000 000 steps take about .*, and of the time for all counts .* is left"))' late.json
	# a record of more than may be is not believed
	count --only '*/avx2/*t=1*' --counter-source stepped --steps 50000 >again.json
	jq -e '.cases[0].status == "ok"' again.json
}

@test "what is asked wrongly is one line" {
	fails 2 "--counter-source is 'guess', expected callgrind, stepped or auto" run --evidence exact --counter-source guess
	fails 2 "--steps is '10', expected a whole number from 1000 to 100000000" run --evidence exact --steps 10
	for option in --counter-source=stepped --steps=5000 --exact-budget=5s; do
		fails 2 "${option%%=*} applies to exact counts, which --evidence stored skips" run --evidence stored "$option"
	done
}
