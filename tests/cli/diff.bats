#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# diff: two stored runs, baselines or the variants of one run, and what bad input gets.
load helpers

@test "diff takes two sides, or the variants of one run" {
	fails 2 "no sides given: assay diff BASE HEAD" diff
	fails 2 "'1' against what?" diff 1
	fails 2 "unexpected argument '3': diff takes two sides" diff 1 2 3
	fails 2 "bad side ''" diff '' 1
	fails 2 "--by is 'op', expected variant" diff --by op
	fails 2 "unexpected argument '2': variants are compared within one run" diff --by variant 1 2
	fails 2 "bad --only ''" diff 1 2 --only ''
	fails 2 "assay.db" diff 1 2
}

@test "diff holds runs, baselines and variants against each other" {
	local case=quantize.q8_0

	measure >/dev/null
	measure >/dev/null
	"$ASSAY" baseline save main --run 1 >/dev/null
	export KEEP_DB=1

	run --separate-stderr "$ASSAY" diff main last --json
	[ "$status" = 0 ]
	jq -e '.schema == 1 and .by == "run" and .base.name == "baseline '"'main'"' (1 run)" and .head.run == 2
		and (.uncovered | contains("machine")) and (.cases | length) == 3
		and all(.cases[]; .same_code and (.result == "machine" or .result == "unclear") and .ratio > 0
			and (.numbers | has("time_s")))' <<<"$output"
	"$ASSAY" diff 1 2 --only $case --json | jq -e --arg c $case 'all(.cases[]; .key | contains($c))'
	"$ASSAY" diff 1 2 -v | grep -q 'other numbers are equal'
	"$ASSAY" diff 1 2 --metric op_bytes | grep -q '^ *0.00 % .*quantize.q8_0/ref/'
	"$ASSAY" diff 1 2 -o d.json && jq -e '.base.run == 1' d.json
	fails 2 "its name must end in .text or .json" diff 1 2 -o d.pdf
	fails 2 "none/d.json" diff 1 2 -o none/d.json
	[ ! -e none ]

	run "$ASSAY" diff --by variant
	[ "$status" = 5 ]
	[[ $output == *"nothing to compare: no shape has two variants"* ]]
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite smoke --only 'quantize.q8_0/*/warm' --threads 1 >/dev/null
	run --separate-stderr "$ASSAY" diff --by variant --only $case --json
	[ "$status" = 0 ]
	jq -e '.by == "variant" and (.cases | length) > 0 and all(.cases[]; .base_variant == "ref" and .variant != "ref"
		and .base_key != .key and (.because != null or .because_unknown != null
			or .result == "unclear" or .result == "skipped"))' <<<"$output"

	fails 2 "a side is 'mian': did you mean 'main'?" diff mian last
	fails 2 "no run 9 in" diff 9 last
	fails 2 "both sides are run 3: name two" diff 3 last
	fails 2 "no case of the two sides matches 'quantize.q8_0/rfe/n=4096/t=all/warm': did you mean" diff 1 2 --only quantize.q8_0/rfe/n=4096/t=all/warm
	fails 2 "has 'op_byte', did you mean 'op_bytes'?" diff 1 2 --metric op_byte
}

@test "diff says that two machines are INCOMPARABLE, with 5" {
	measure --only quantize.q8_0 >/dev/null
	measure --only quantize.q8_0 >/dev/null
	sqlite3 assay.db "INSERT INTO machine (id, label) VALUES ('other', 'abacus'); UPDATE run SET machine = 'other' WHERE id = 1;" ||
		skip "the store refuses to be changed"
	run --separate-stderr "$ASSAY" diff 1 2
	[ "$status" = 5 ]
	[[ $output == *"times of two machines are INCOMPARABLE"*"different machines: base other (abacus)"*"INCOMPARABLE"* ]]
}

@test "show --bottlenecks says what bounds a case, and advises by rules that are documented" {
	local rule

	fails 2 "--bottlenecks applies to the cases of a run" show --bottlenecks
	fails 2 "--bottlenecks applies to the cases of a run" show last x --bottlenecks --samples
	fails 2 "no database 'assay.db'" show last --bottlenecks
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --suite quick --only '*l3/t=1/warm' --only 'quantize.q8_0*' --evidence stored >/dev/null
	export KEEP_DB=1
	run --separate-stderr "$ASSAY" show last --bottlenecks --json
	[ "$status" = 0 ]
	jq -e '.schema == 1 and .run == 1 and (.cases | length) > 0
		and all(.cases[]; (.key | test("^(stream|peak|overhead)[.]") | not) and .evidence != null
			and (.bound | IN("memory", "compute", "latency", "overhead", "unknown"))
			and (.missing == null or (.missing | length) > 0)
			and all(.advice[]; .gain == null or (.gain >= 1.1 and (.gain_most == null or .gain <= .gain_most))))' <<<"$output"
	"$ASSAY" show last quantize --bottlenecks -v | grep -q 'not measured: '
	fails 2 "no case of run 1 matches 'zzz'" show last zzz --bottlenecks
	while read -r rule; do
		grep -qF "\`$rule\`" "$ASSAY_SOURCE/reports/ADVICE.md" || {
			echo "ADVICE.md lacks rule $rule"
			return 1
		}
	done < <(sed -n 's/^\t{ "\([a-z_]*\)", rule_.*/\1/p' "$ASSAY_SOURCE/harness/judge/advice.c")
}
