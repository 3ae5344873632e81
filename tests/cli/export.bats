#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# export: a run or a comparison in the formats of other programs.
load helpers
load compare_helpers

@test "export takes a format and one run or comparison" {
	fails 2 "no format given: assay export csv -o FILE" export
	fails 2 "unknown format 'cvs', did you mean 'csv'?" export cvs
	fails 2 "no database" export csv x
	fails 2 "unexpected argument '2': export takes one run or comparison" export csv 1 2
	fails 2 "--samples is for runs as json alone" export csv --samples
	fails 2 "--only is for runs alone" export csv c1 --only x
	fails 2 "no database 'assay.db'" export csv
	measure >/dev/null
	export KEEP_DB=1
	fails 2 "no run 7 in" export csv 7
	fails 2 "no comparison 1 in" export csv c1
	fails 2 "no case of run 1 matches 'zzz'" export csv --only zzz
	fails 2 "cannot write 'none/a.csv'" export csv -o none/a.csv
	[ "$("$ASSAY" export --help | grep -c '^  [a-z]*  ')" -ge 6 ]
}

@test "a run in every format" {
	measure >/dev/null
	local n
	n=$("$ASSAY" show last --json | jq '.cases | length')
	"$ASSAY" export csv -o run.csv
	# every line ends as RFC 4180 has it, and every row has as many fields
	[ "$(grep -c $'\r$' run.csv)" = $((n + 1)) ] && [ "$(wc -l <run.csv)" = $((n + 1)) ]
	[[ $(head -1 run.csv) == run,suite,label,imported,started,machine,commit,key,op,variant,shape,threads,cache,status,reason,* ]]
	grep -q '^1,quick,,,20.*,"n=4096",\|,n=4096,' run.csv
	"$ASSAY" export json --samples | jq -e '(.cases[0].raw | length) > 0'
	"$ASSAY" export json 1 | jq -e '.schema == 1 and .run.id == 1'
	"$ASSAY" export markdown | grep -q '^| case | time | 95 % | rate | check |$'
	"$ASSAY" export junit -o run.xml
	[ "$(grep -c '<testcase' run.xml)" = "$n" ]
	! command -v xmllint >/dev/null || xmllint --noout run.xml
	"$ASSAY" export openmetrics -o run.prom
	[ "$(tail -1 run.prom)" = "# EOF" ]
	grep -q '^assay_case_time_seconds{case="quantize.q8_0/ref/' run.prom
	# the numbers of a run do not add up, so none is a counter or called like one; what is stored does
	[ "$(grep -c '^# TYPE assay_[a-z0-9_]* gauge$' run.prom)" = "$(grep -c '^# TYPE' run.prom)" ]
	grep -q '^assay_runs_total{.*} 1$' run.prom
	grep -q "^assay_results_total{.*,status=\"ok\"} $n$" run.prom
	measure --only dequantize >/dev/null
	"$ASSAY" export openmetrics | grep -q "^assay_results_total{.*,status=\"ok\"} $((n + 1))$"
	"$ASSAY" export openmetrics 1 | cmp - run.prom
	run ! grep -Eq '^# TYPE [a-z0-9_]+_(total|count|sum|bucket|info|created) ' run.prom
	# base units alone
	run ! grep -Eq '^# TYPE [a-z0-9_]+_(ms|us|ns|s|kb|mb|b|kib|mib|percent|frac) ' run.prom
	[ "$("$ASSAY" export csv 1 --only dequantize | wc -l)" = 2 ]
}

@test "promtool finds no fault in what Prometheus reads" {
	command -v promtool >/dev/null || skip "promtool is missing (package prometheus)"
	measure >/dev/null
	"$ASSAY" export openmetrics | promtool check metrics
	"$ASSAY" import auto "$ASSAY_SOURCE/tests/fixtures/import/google_benchmark_1.8.json" >/dev/null
	"$ASSAY" import auto "$ASSAY_SOURCE/tests/fixtures/import/llama_bench.json" >/dev/null
	"$ASSAY" export openmetrics 2 | promtool check metrics
	"$ASSAY" export openmetrics 3 | promtool check metrics
}

@test "no cell is a formula of a spreadsheet" {
	local name
	for name in '=1+1' '+cmd|calc' '-2+3' '@SUM(1)' 'a"b' 'plain'; do
		jq -n --arg c "$name" '{command: $c, times: [1, 1.1, 1.2]}'
	done | jq -s '{results: .}' >names.json
	"$ASSAY" import hyperfine names.json --label '=label' --machine '@m' --commit '+c' --db n.db >/dev/null
	"$ASSAY" export csv --db n.db | tr -d '\r' >n.csv
	grep -q ",\"'=label\",hyperfine,,\"'@m\",\"'+c\"," n.csv
	run ! grep -Eq '(^|,)"?[=+@]' n.csv
	run ! grep -Eq '(^|,)"?-[^0-9]' n.csv
	grep -q ",plain/hyperfine/-,plain," n.csv
	"$ASSAY" history plain --csv --db n.db | grep -q "^1,\"'+c\","
}
