#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Histograms: observed by an op and printed by a program, from the samples to metrics, the database, a policy and a picture.
load helpers

PLUGIN=$ASSAY_BUILD/tests/plugins/observed_op.so

# toy VARIANT...: a suite of the op that observes 1 to 10 ms from each thread.
toy() {
	mkdir -p b/suites
	cat >b/toy.bench <<-END
		bench "toy" {
		    op       = "observed.toy"
		    variants = {$(printf '"%s",' "$@" | sed 's/,$//')}
		    threads  = {"1", "2"}
		    budget   = "20ms"
		}
	END
	printf 'suite "toy" {\n\tuse "toy" { }\n\trounds = 3\n}\n' >b/suites/toy.suite
}

# observe OPTION...: run it.
observe() {
	ASSAY_DETERMINISTIC=1 assay run --no-default-plugins --plugin "$PLUGIN" --bench-dir b --suite toy \
		--db t.db "$@"
}

@test "values of samples count, of all threads, processes and rounds, and those of checks do not" {
	toy ref
	observe --threads 1,2 --json >out.json
	jq -e '[.cases[] | select(.status == "ok")] | length > 0 and all(.[];
		.metrics.step_count.value == 10 * .threads * .samples * .iterations
		and .histograms.step_s.count == .metrics.step_count.value
		and ([.histograms.step_s.buckets[] | .[2]] | add == .[0] * 10 and length == 10)
		and (.histograms.step_s.buckets | to_entries | all(.value[0] <= (.key + 1) * 1e-3 and (.key + 1) * 1e-3 < .value[1]))
		and .metrics.step_p50_s.better == "lower" and .metrics.step_p50_s.unit == "s"
		and (.metrics.step_p50_s.value / 5e-3 | . > 0.968 and . < 1.032)
		and (.metrics.step_p90_s.value / 9e-3 | . > 0.968 and . < 1.032)
		and (.metrics.step_p99_s.value / 10e-3 | . > 0.968 and . < 1.032))' out.json

	# what is stored is what was measured
	assay show last --db t.db --json | jq -e --slurpfile out out.json '.cases | map(.histograms) == ($out[0].cases | map(.histograms))'
	assay show last '*/t=1/*' --db t.db >show.txt
	grep -q 'step_p99_s .*lower is better' show.txt

	# of a comparison, the quantiles of both sides
	cp "$PLUGIN" base.so
	assay compare base.so "$PLUGIN" --no-default-plugins --bench-dir b --suite toy --threads 1 --db t.db --budget 500ms --same-code --profile no || true
	assay show c1 '*/t=1/*' --db t.db | grep -q '^  step_p99_s .* +0\.0 %, lower is better$'

	assay run --no-default-plugins --plugin "$PLUGIN" --bench-dir b --suite toy --threads 1 --db rounds.db
	assay show last toy --samples --db rounds.db --json |
		jq -e '.cases[0] | .metrics.step_count.value == 10 * ([.raw[][0]] | add)'
}

@test "a value that is no number, negative or beyond all buckets fails the case, and so does one of a gauge" {
	toy nan negative infinite huge gauge unknown quiet zero
	run --separate-stderr observe --threads 1 --json
	[ "$status" = 4 ] || [ "$status" = 0 ]
	jq -e '[.cases[] | {(.variant): [.status, .reason]}] | add |
		.nan == ["failed", "a value that op '"'observed.toy'"' observed of metric '"'step_s'"' is nan, allowed 0 to 1.84467440737e+19"]
		and (.negative[1] | contains("is -0.001, allowed 0 to"))
		and (.infinite[1] | contains("is inf, allowed"))
		and (.huge[1] | contains("is 1e+30, allowed"))
		and .gauge == ["failed", "op '"'observed.toy'"' observed a value of metric 0, which is not a histogram"]
		and (.unknown[1] | contains("metric 1000000, which is not a histogram"))
		and .quiet[0] == "ok" and .zero[0] == "ok"' <<<"$output"
	jq -e '.cases[] | select(.variant == "quiet") | .histograms == {} and (.metrics | has("step_count") | not)' <<<"$output"
	jq -e '.cases[] | select(.variant == "zero") | .metrics.step_p99_s.value == 0 and .metrics.step_count.value > 0' <<<"$output"
}

@test "Prometheus reads a histogram, and plot draws it" {
	toy ref
	observe --threads 1
	assay export openmetrics --db t.db >all.prom
	grep -q '^# TYPE assay_case_step_seconds histogram$' all.prom
	count=$(sed -n 's/^assay_case_step_seconds_count{.*} //p' all.prom)
	[ "$count" -gt 0 ]
	grep -q "^assay_case_step_seconds_bucket{.*le=\"+Inf\"} $count\$" all.prom
	# 1 ms lies in one power of two, 2 and 3 in the next, 8 to 10 in the last
	[ "$(sed -n 's/^assay_case_step_seconds_bucket{.*} //p' all.prom | tr '\n' ' ')" = \
		"0 $((count / 10)) $((count * 3 / 10)) $((count * 7 / 10)) $count $count " ]
	! command -v promtool >/dev/null || promtool check metrics <all.prom

	fails 2 "has no histogram 'steps' in run 1, but step_s" plot distribution '*/t=1/*' --metric steps --db t.db -o x.svg
	command -v gnuplot >/dev/null || skip "no gnuplot"
	assay plot distribution '*/t=1/*' --metric step_s --db t.db -o x.svg
	grep -q ">step_s<" x.svg
	grep -q "of $count values<" x.svg
}

# A program that prints the latency of each of ten requests.
program() {
	mkdir -p p/suites
	cat >tool.sh <<-'END'
		#!/bin/sh
		for i in 1 2 3 4 5 6 7 8 9 10; do echo "request $i took $((i * 10)) us"; done
	END
	chmod +x tool.sh
	cat >p/tool.bench <<-END
		bench "tool" {
		    command = "$PWD/tool.sh"
		    threads = "1"
		    metric "latency" { pattern = "took ([0-9.-]+) us" unit = "us" better = "lower" ${1:-kind = \"histogram\"} }
		}
	END
	printf 'suite "tool" {\n\tuse "tool" { }\n}\n' >p/suites/tool.suite
}

@test "a pattern of a program may find a histogram, whose quantiles a policy may limit" {
	program
	ASSAY_DETERMINISTIC=1 assay run --bench-dir p --suite tool --db t.db --json >out.json
	jq -e '.cases[0] | .status == "ok" and .metrics.latency_count.value == 10 * .samples
		and (.metrics.latency_p50.value / 50e-6 | . > 0.968 and . < 1.032)
		and (.metrics.latency_p99.value / 100e-6 | . > 0.968 and . < 1.032)' out.json

	sed -i 's/echo "request.*us"/echo "request $i took -1 us"/' tool.sh
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --bench-dir p --suite tool --db t.db --json
	jq -e '.cases[0] | .status == "failed" and (.reason | contains("its pattern found -1, and a histogram has values from 0"))' <<<"$output"
	sed -i 's/echo "request.*us"/true/' tool.sh
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --bench-dir p --suite tool --db t.db --json
	jq -e '.cases[0] | .status == "failed" and (.reason | contains("its pattern finds nothing"))' <<<"$output"
}

@test "a comparison judges the quantiles of a program's histogram" {
	export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_GLOBAL=/dev/null
	mkdir repo && cd repo
	program
	sed -i "s|$PWD/tool.sh|./tool.sh|" p/tool.bench
	printf 'build = "true"\nbench = "p"\nbaselines = "baselines"\n' >assay.conf
	mkdir baselines
	echo 'margin "*" { paired = "1%" }' >baselines/policy.conf
	git init -q -b main
	git config user.email a@b && git config user.name a
	git add . && git commit -q -m first
	sed -i 's/i \* 10/i * 12/' tool.sh
	git commit -q -a -m slower
	run --separate-stderr assay compare --suite tool --budget 2s --profile no main~1 main --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | [.metric, .verdict]] | sort == [["latency_p50", "REGRESSED"], ["latency_p90", "REGRESSED"], ["latency_p99", "REGRESSED"]]' <<<"$output"
}

@test "what is no histogram is refused where the bench is read" {
	program 'kind = "heatmap"'
	fails 2 "metric 'latency' of bench 'tool' has a kind other than \"histogram\"" run --bench-dir p --suite tool
	program 'kind = "histogram" } metric "latency_p90" { pattern = "(1)" unit = "us" better = "lower"'
	fails 2 "histogram 'latency' gives 'latency_p90', which is another metric" run --bench-dir p --suite tool
}
