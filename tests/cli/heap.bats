# SPDX-License-Identifier: Apache-2.0
# Allocations of variants: counted where the heap can be watched, unavailable with a reason elsewhere, and demanded by policies.
load helpers

# toy OPTION...: the variants of $SUITE (known), which allocate known amounts, with the counters of the heap, as JSON.
toy() {
	cp -r "$ASSAY_SOURCE/tests/fixtures/heap" t
	cp -r "$ASSAY_SOURCE/bench/groups" t/
	ASSAY_DETERMINISTIC=1 "${PROGRAM:-$ASSAY}" run --bench-dir t --suite "${SUITE:-known}" --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --db t.db --json "$@"
}

# Sanitized builds have no such object.
watches() {
	[ -e "$ASSAY_BUILD/lib/assay/assay-heap.so" ]
}

@test "a bench that names the group heap counts what its variants allocate" {
	watches || skip "no heap counts in this build"
	run --separate-stderr toy
	[ "$status" = 0 ]
	jq -e '[.cases[] | {(.variant): (.counters | [.heap_allocations, .heap_bytes, .heap_peak_bytes, .heap_largest_bytes, .heap_leaked_bytes]
			| map(.value))}] | add == {"ref": [0, 0, 0, 0, 0], "known": [6, 1254, 2154, 1000, 0], "leaky": [0, 0, 5096, 4096, 5096]}' \
		<<<"$output"
	jq -e 'all(.cases[].counters; .heap_bytes.source == "heap" and .heap_bytes.per == "iteration" and .heap_peak_bytes.per == "case")' \
		<<<"$output"
	run assay show last heap.toy/known --db t.db
	[[ $output == *"heap_bytes "*"1254  heap, per call"* ]]
}

@test "allocations of all kinds and threads are counted, and what a sample leaves behind is no leak" {
	watches || skip "no heap counts in this build"
	SUITE=others run --separate-stderr toy
	jq -c '.cases[] | [.variant] + (.counters | [.heap_allocations, .heap_bytes, .heap_peak_bytes, .heap_largest_bytes, .heap_leaked_bytes]
		| map(.value))' <<<"$output" >counts
	cat counts
	for row in '"refused",1,10,10,10,0' '"asks",1,2048,2048,2048,0' '"keeps",1,256,300,300,0' '"moves",2,640,512,512,0' '"foreign",0,0,0,0,0' \
		'"many",5000,120000,120000,24,0' '"hoards",1,64,384,64,0'; do
		jq -es --argjson row "[$row]" 'any(. == $row)' counts
	done
	[ "$(nproc)" = 1 ] || jq -es 'any(. == ["threads", 20, 960, 960, 48, 0])' counts
}

@test "OpenBLAS is set up without a trace" {
	watches || skip "no heap counts in this build"
	[ -e "$ASSAY_BUILD/plugins/matmul-openblas.so" ] || skip "no OpenBLAS variants in this build"
	cp -r "$ASSAY_SOURCE/tests/fixtures/heap" t
	cp -r "$ASSAY_SOURCE/bench/groups" t/
	ASSAY_DETERMINISTIC=1 run -0 --separate-stderr assay run --bench-dir t --suite blas --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --db t.db --json
	jq -e 'any(.cases[]; .variant == "openblas" and .status == "ok")' <<<"$output" || skip "OpenBLAS is missing"
	jq -e 'all(.cases[]; .counters.heap_leaked_bytes.value == 0)' <<<"$output"
}

@test "a policy demands that nothing is allocated in a run and nothing is lost" {
	watches || skip "no heap counts in this build"
	toy >/dev/null
	assay list --bench-dir t --suite known --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --manifest --threads 1 >m.manifest
	printf 'limit "heap.toy/*" { require = {"heap_allocations <= 0", "heap_leaked_bytes <= 0"} }\n' >p.conf
	run --separate-stderr assay gate --suite known --db t.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric | startswith("heap_")) | {((.key | split("/")[1]) + " " + .metric): [.verdict, .evidence]}] | add == {
		"ref heap_allocations": ["PASS", "heap"], "ref heap_leaked_bytes": ["PASS", "heap"],
		"known heap_allocations": ["REGRESSED", "heap"], "known heap_leaked_bytes": ["PASS", "heap"],
		"leaky heap_allocations": ["PASS", "heap"], "leaky heap_leaked_bytes": ["REGRESSED", "heap"]}' <<<"$output"
}

@test "a program without the heap's object says what is missing" {
	mkdir -p alone/bin
	cp "$ASSAY" alone/bin/
	ln -s "$ASSAY_BUILD/plugins" alone/plugins
	PROGRAM=alone/bin/assay run --separate-stderr toy --only 'heap.toy/known/*'
	[ "$status" = 0 ]
	jq -e 'all(.cases[]; .status == "ok" and .counters.heap_bytes == null and .unavailable.heap_bytes.source == "heap"
		and (.unavailable.heap_bytes.reason | test("there is no .*/assay-heap.so.: make builds it|sanitizer")))' <<<"$output"
	assay list --bench-dir t --suite known --only 'heap.toy/known/*' --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --manifest --threads 1 >m.manifest
	printf 'limit "heap.toy/known/*" { require = "heap_allocations <= 0" }\n' >p.conf
	run --separate-stderr assay gate --suite known --db t.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 4 ]
	jq -e '[.cases[] | select(.metric == "heap_allocations")] | length == 1 and .[0].verdict == "NOT_MEASURED"' <<<"$output"
}

@test "the group heap is in no way of a run that does not ask for it" {
	run --separate-stderr measure --json
	[ "$status" = 0 ]
	jq -e 'all(.cases[]; .counters.heap_bytes == null and .unavailable.heap_bytes == null)' <<<"$output"
}

@test "the doctor says whether the heap can be watched" {
	run --separate-stderr assay doctor --json
	[ "$status" = 0 ]
	want=none
	watches && want=ok
	jq -e --arg want "$want" '[.findings[] | select(.name == "counters_heap")] | length == 1 and .[0].health == $want' <<<"$output"
}
