#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels that do less when they are timed, as people see them; tests/unit/worker/audit.c has the kinds.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p bench/suites
	printf 'bench "read" { op = "cheat.read" budget = "50ms" }\n' >bench/read.bench
	printf 'suite "quick" { summary = "one op" use "*" {} }\n' >bench/suites/quick.suite
	CHEATS=$ASSAY_BUILD/tests/plugins/cheat_op.so
}

@test "a rate that the machine does not have is a wrong result" {
	run --separate-stderr "$ASSAY" run --bench-dir bench --plugin "$CHEATS" --db x.db
	[ "$status" = 3 ]
	[[ $output == *"idles  wrong: faster than this machine allows: "*"B/s of "*"B/s"* ]]
	[[ $output == *"1 ok, 1 wrong"* ]]
}

@test "in a comparison it is one, too" {
	run --separate-stderr "$ASSAY" compare --bench-dir bench --same-code --budget 300ms --db x.db "$CHEATS" "$CHEATS"
	[ "$status" = 3 ]
	[[ $output == *"WRONG_RESULT  time_s  cheat.read/idles/-/t=1/warm"*"faster than this machine allows: "* ]]
	[[ $output == *"1 WRONG_RESULT, 1 "* ]]
}

@test "a kernel that slows the clock down is not measured" {
	[ "$(uname -m)" = x86_64 ] || skip 'no other clock can be made to trap'
	printf 'bench "scale" { op = "example.scale" shapes = {"n=4096"} budget = "300ms" }\n' >bench/read.bench
	run -4 --separate-stderr "$ASSAY" run --bench-dir bench --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/example_op.so" \
		--plugin "$ASSAY_BUILD/tests/plugins/cheat_clock.so" --only '*/on_time/*' --only '*/traps/*' --only '*/halves/*' --db x.db --json
	jq -e '[.cases[] | [.variant, .status]] | sort == [["halves", "failed"], ["on_time", "ok"], ["traps", "failed"]]' <<<"$output"
	jq -e '.cases[] | select(.variant == "traps").reason | contains("a call changed the clock: reading it traps")' <<<"$output"
}

# Of cheat.i8 single elements of the inputs change; example.scale has whole numbers, which change together.
@test "a kernel that knows the pause before a call, or the loop around it, is found out" {
	printf 'bench "%s" { op = "%s" shapes = {"n=4096"} budget = "300ms" }\n' scale example.scale bytes cheat.i8 >bench/read.bench
	run -3 --separate-stderr "$ASSAY" run --bench-dir bench --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/example_op.so" \
		--plugin "$CHEATS" --plugin "$ASSAY_BUILD/tests/plugins/cheat_pause.so" --only '*/pause/*' --only '*/loop/*' --only '*/calm/*' \
		--only '*/prepared/*' --only '*/slow/*' --db x.db --json
	jq -c '.cases[] | [.key, .status, .reason]' <<<"$output"
	jq -e '[.cases[] | [.op, .variant, .status]] | sort == [["cheat.i8", "pause", "wrong"], ["example.scale", "calm", "ok"],
		["example.scale", "loop", "wrong"], ["example.scale", "pause", "wrong"], ["example.scale", "prepared", "wrong"],
		["example.scale", "slow", "ok"]]' <<<"$output"
	jq -e '.cases[] | select(.variant == "prepared").reason | contains("when it is the first after a pause")' <<<"$output"
}
