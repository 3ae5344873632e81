#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Shares of what the machine gives, measured in turn with the case.
load helpers

ONE=dequantize.q8_0/ref/n=16384/t=1/warm

in_turn() {
	"$ASSAY" run --suite full --only 'stream.*/level=l2/t=1/*' --only "$ONE" --budget 100ms --roof-in-turn "$@"
}

# A machine that is busy leaves too few turns for an interval; their range is marked with '?'.
@test "limit and case take turns, and the share has an interval" {
	in_turn --json >a.json
	jq -e '[.cases[] | select(.op | startswith("stream.")) | .metrics.roof_frac] | length > 2 and all(. == null)' a.json
	jq -e --arg key "$ONE" '.cases[] | select(.key == $key)
		| (.counters.roof_ns.how | capture("^stream.(?<what>read|copy) at l2; in turn, (?<lo>[0-9.]+) to (?<hi>[0-9.]+) %\\??$")) as $i
		| ($i.lo | tonumber) - 0.1 <= 100 * .metrics.roof_frac.value and 100 * .metrics.roof_frac.value <= ($i.hi | tonumber) + 0.1' a.json
	jq -e --arg key "$ONE" '.cases[] | select(.key == $key) | .roof.in_turn.ci95_frac as [$lo, $hi]
		| .roof.bound == "bandwidth" and .roof.name == "l2" and (.roof.op | startswith("stream."))
		and $lo - 0.001 <= .metrics.roof_frac.value and .metrics.roof_frac.value <= $hi + 0.001' a.json
	"$ASSAY" show last --json | jq -e --slurpfile a a.json '[.cases[].roof] == [$a[0].cases[].roof]'
	"$ASSAY" show last --json | jq -e --slurpfile a a.json '[.cases[].counters.roof_ns] == [$a[0].cases[].counters.roof_ns]'
	"$ASSAY" show last | grep -E 'l2 +ok .* limit [0-9.]+ to [0-9.]+ %'
}

@test "rounds measure it in turn each time" {
	"$ASSAY" run --suite full --only 'stream.*/ref/level=l2/t=1/*' --only "$ONE" --budget 500ms --rounds 2 --roof-in-turn --json |
		jq -e --arg key "$ONE" '.cases[] | select(.key == $key)
			| .rounds == 2 and .metrics.roof_frac.value > 0 and (.counters.roof_ns.how | test("; in turn, "))'
}

@test "an interrupt while the last case takes turns is no finished run" {
	"$ASSAY" run --suite full --only 'stream.*/ref/level=l2/t=1/*' --only "$ONE" --budget 3s --rounds 1 --roof-in-turn >out.txt 2>err.txt &
	pid=$!
	# all others are kept; one worker is a case alone, two are case and limit
	for _ in $(seq 1200); do
		"$ASSAY" show last --json >kept.json 2>/dev/null && jq -e '.cases | length == 3' kept.json >/dev/null &&
			[ "$(wc -w <"/proc/$pid/task/$pid/children")" -ge 2 ] && break
		sleep 0.1
	done
	interrupt "$pid"
	grep "interrupted.*: [0-9]* of [0-9]* cases kept in run 1" err.txt
	"$ASSAY" show --json | jq -e '.runs[0].ended == null'
}

@test "without the limits in the run there is the reason" {
	"$ASSAY" run --suite full --only "$ONE" --budget 100ms --roof-in-turn --json |
		jq -e '.cases[0] | .metrics.roof_frac == null and
			(.unavailable.roof_frac.reason | test("^the run has no measurement of read or copy bandwidth at l2 on 1 thread"))'
}

@test "--roof-in-turn where it would do nothing is refused" {
	ASSAY_DETERMINISTIC=1 fails 2 "--roof-in-turn samples for as long as time allows" run --roof-in-turn
	fails 2 "--roof-in-turn applies to timing" run --roof-in-turn --evidence exact
}
