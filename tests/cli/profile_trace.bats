#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile trace: spans that nest, ids that fit, a critical path that adds up, and a file that a browser reads as the format says.
load compare_helpers
load browser

GENERATE=generate.chat/avx2/model=tiny,users=2,turns=4,system=64,message=24,reply=8,kv_blocks=0,batch=512/t=1/warm

setup_file() {
	export MIX="$BATS_FILE_TMPDIR/mix"
	cc -O1 -g -pthread -D_GNU_SOURCE -o "$MIX" "$ASSAY_SOURCE/tests/fixtures/profile/thread_mix.c"
}

teardown() {
	browser_stop
}

# As in profile_threads.bats.
needs_trace() {
	run --separate-stderr "$ASSAY" profile trace --json -- "$MIX"
	[ "$status" = 0 ] || [[ $stderr != *sanitizer* && $stderr != *libdw* ]] || skip "${stderr##*$'\n'}"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
}

# valid FILE: ids are unique, a child lies within its parent on the same thread, neighbours do not overlap, arrows have two ends, the
# critical path has no gap within a window. Times are written in ns as thousandths of µs, hence the tolerance.
valid() {
	jq -e '.traceEvents as $e | [$e[] | select(.ph == "X" and .cat != "path")] as $x
		| ($x | map({key: (.args.id | tostring), value: .}) | from_entries) as $by
		| ($x | length) > 0 and ($by | length) == ($x | length)
		and all($e[]; (.ph | IN("X", "M", "C", "s", "f")) and (.name | type == "string") and (.pid | type == "number"))
		and all($e[] | select(.ph != "M"); .ts >= 0)
		and all($x[]; .dur >= 0 and (.args.parent == null or ($by[.args.parent | tostring] as $p
			| $p != null and $p.pid == .pid and $p.tid == .tid and .ts >= $p.ts - 0.002 and .ts + .dur <= $p.ts + $p.dur + 0.002)))
		and ([$x | group_by([.pid, .tid, .args.parent])[] | sort_by(.ts) | . as $g | range(1; length)
			| $g[.].ts >= $g[. - 1].ts + $g[. - 1].dur - 0.002] | all)
		and ([$e[] | select(.ph == "s") | .id] | sort) == ([$e[] | select(.ph == "f") | .id] | sort)' "$1" >/dev/null ||
		{ echo "$1 is no valid trace"; false; }
}

@test "profile trace says in one line what it cannot do" {
	needs_trace
	fails 2 "--rate is for profiles of the kind cpu, not trace" profile trace --rate 10 -- true
	fails 2 "a file that ends in .trace is for profiles of the kind trace, not cpu" profile cpu -o a.trace -- true
	fails 2 "no case or command given: 'assay profile trace CASE'" profile trace
	fails 2 "./none" profile trace -- ./none
	fails 2 "none/t.json" profile trace -o none/t.json -- true
}

@test "the spans of generate: prefill, layers, attention, feed-forward, head, sampling" {
	needs_trace
	run --separate-stderr "$ASSAY" profile trace --for 30ms --json -o t.json "$GENERATE"
	[ "$status" = 0 ] || [[ $stderr != *skipped* ]] || skip "$stderr"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.kind == "trace" and .profile.unit == "ns" and .profile.lost == 0 and (.threads | length) == 1'
	is '[.spans[].name] | contains(["sample", "prefill", "decode", "layer", "embedding", "attention", "feed-forward", "head", "sampling"])'
	# each layer has one of both, and eight replies follow each of eight prompts
	jq -e '[.traceEvents[] | select(.ph == "X" and .cat == "span") | .name] | group_by(.) | map({key: .[0], value: length}) | from_entries
		| .layer == .attention and .layer == ."feed-forward" and .prefill * 7 == .decode and .prefill % 8 == 0
		and .sampling == .prefill + .decode and .prepare == 1 and .verify == 1 and .recheck == 1' t.json
	valid t.json
	# the path is that of the timed samples: all of one thread
	is '.path_ns as $p | ([.spans[].path_ns] | add) == $p and .threads[0].path_ns == $p'
	jq -e --argjson path "$(jq .path_ns <<<"$output")" '.traceEvents | ([.[] | select(.cat == "path") | .dur] | add) as $d
		| ([.[] | select(.ph == "X" and .name == "sample" and .pid > 1 and .cat == "span") | .dur] | add) as $s
		| ($d * 1000 / $path - 1 | fabs) < 0.001 and ($d / $s - 1 | fabs) < 0.005' t.json
	# a layer's share with all in it is its own and those of its parts
	is '[.spans[] | {key: .name, value: .}] | from_entries | .layer.path_frac > 0
		and (.layer.path_total_frac - .layer.path_frac - .attention.path_total_frac - ."feed-forward".path_total_frac | fabs) < 1e-9'
	# memory, and what each track is called
	jq -e '[.traceEvents[] | select(.ph == "C" and .name == "op memory" and .args.bytes > 0)] | length > 0' t.json
	jq -e '[.traceEvents[] | select(.ph == "M" and .name == "thread_name") | .args.name] | contains(["phases", "thread 1", "critical path"])' t.json
}

@test "the critical path goes to the thread that others wait for, and adds up to what was timed" {
	needs_trace
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	# the thread with less work never ends last, whatever holds it up
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" profile trace $SELECT --plugin "$PLUGINS/thread_uneven.so" --threads 2 --for 100ms --json -o t.json \
		lenient.triple/uneven
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	valid t.json
	is '.threads | length == 2 and .[0].path_frac > 0.5 and .[0].path_ns + .[1].path_ns > 0'
	# it is as long as the samples of the thread that calls, which hold all that was timed: a span an iteration
	jq -e --argjson path "$(jq .path_ns <<<"$output")" --argjson iteration "$(jq .profile.iteration_ns <<<"$output")" '
		[.traceEvents[] | select(.ph == "X" and .cat == "span" and .tid == 2)] | ([.[] | select(.name == "sample") | .dur] | add) as $s
		| ($s * 1000 / $path - 1 | fabs) < 0.005 and ([.[] | select(.name == "the inner call")] | length) * $iteration <= $path' t.json
	jq -e '[.traceEvents[] | select(.ph == "X" and .cat == "wait") | .name] | index("the next parallel region") != null' t.json
	# a program: 0.2 s on the keeper, then on the waiter
	run --separate-stderr "$ASSAY" profile trace --json -o p.json -- "$MIX" mutex
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	valid p.json
	wall=$(awk '/^main/ { print $3 }' <<<"$stderr")
	is '.threads | .[0].path_frac < 0.5 and ([.[] | select(.name | endswith(": keeper"))][0].path_ns > 190e6)
		and ([.[] | select(.name | endswith(": waiter"))][0].path_ns > 90e6)'
	is '([.threads[].path_ns] | add) == .path_ns and .threads[0].ns == .path_ns'
	jq -e --argjson wall "$wall" '.path_ns >= $wall and .path_ns <= .profile.seconds * 1e9' <<<"$output"
}

@test "two traces are held against each other by span: times, time, and time of its own" {
	needs_trace
	for name in before after; do
		run --separate-stderr "$ASSAY" profile trace --name $name --json -- "$MIX" $([ $name = before ] && echo mutex || echo barrier)
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		cp <(echo "$output") $name.json
	done
	run --separate-stderr "$ASSAY" diff before after --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.kind == "trace" and .unit == "ns" and (has("functions") | not) and (.spans | length > 2)'
	# each side has the numbers of its own trace
	jq -e --argjson before "$(cat before.json)" --argjson after "$(cat after.json)" '(.spans | map({key: .name, value: .}) | from_entries) as $d | ([$before.spans[], $after.spans[]] | length > 0)
		and all($before.spans[] | select(.times); $d[.name].own[0] == .self_ns and $d[.name].total[0] == .total_ns and $d[.name].times[0] == .times)
		and all($after.spans[] | select(.times); $d[.name].own[1] == .self_ns and $d[.name].total[1] == .total_ns and $d[.name].times[1] == .times)
		and ($d.pthread_mutex_lock | .times[0] >= 1 and .times[1] == 0 and .ratio == null and .change < 0)' <<<"$output" || { echo "$output"; false; }
	run --separate-stderr "$ASSAY" diff before after -o d.svg
	[[ $output == *"head/base"*"count base"*"pthread_barrier_wait"* ]] || { echo "$output"; false; }
	grep -q 'data-n="pthread_barrier_wait"' d.svg
}

@test "a trace is stored as its spans, shown again, and read by a browser" {
	needs_trace
	cp "$MIX" '<b>x'
	run --separate-stderr "$ASSAY" profile trace --name taken --json -o t.trace -- './<b>x' barrier
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	taken=$output
	run --separate-stderr "$ASSAY" show taken --json -o t.svg
	[ "$(jq -c '.spans, .threads, .path_ns' <<<"$output")" = "$(jq -c '.spans, .threads, .path_ns' <<<"$taken")" ]
	run --separate-stderr "$ASSAY" show taken
	[ "$(grep -c 'trace profile of ' <<<"$output")" = 1 ]
	[[ $output == *"trace profile of "*"the critical path takes "*"pthread_barrier_wait"* ]]
	{
		printf 'const trace = '
		cat t.trace
	} >trace.js
	printf '<!doctype html><meta charset="utf-8"><title>trace</title><script src="trace.js"></script>' >trace.html
	browser_start
	browser_open "$PWD/trace.html"
	# the rules of "Trace Event Format" for what stands in it
	page_is 'Array.isArray(trace.traceEvents) && trace.traceEvents.every(e => typeof e.name === "string" && Number.isInteger(e.pid) &&
		Number.isInteger(e.tid) && (e.ph === "M" || Number.isFinite(e.ts)) && (e.ph !== "X" || e.dur >= 0) &&
		(!"sf".includes(e.ph) || Number.isInteger(e.id)) && (e.ph !== "C" || Object.values(e.args).every(Number.isFinite)))'
	page_is '(() => { const open = {}, at = {}; for (const e of trace.traceEvents.filter(e => e.ph === "X")
		.sort((a, b) => a.ts - b.ts || b.dur - a.dur)) { const key = e.pid + "/" + e.tid, stack = open[key] = open[key] || [];
		while (stack.length && stack[stack.length - 1] <= e.ts + 0.002) stack.pop();
		if (stack.length && stack[stack.length - 1] < e.ts + e.dur - 0.002) return false; stack.push(e.ts + e.dur); } return true; })()'
	page_is 'trace.traceEvents.some(e => e.ph === "M" && e.name === "process_name" && e.args.name.includes("<b>x"))'
	[ -z "$(browser_complaints)" ]
}
