# SPDX-License-Identifier: Apache-2.0
# System calls of one run: counted where a worker may be traced, unavailable with a reason elsewhere, and demanded by policies.
load helpers

# toy SUITE OPTION...: the variants that make known calls, as JSON.
toy() {
	local suite=$1
	shift
	cp -r "$ASSAY_SOURCE/tests/fixtures/syscalls" t
	cp -r "$ASSAY_SOURCE/bench/groups" t/
	ASSAY_DETERMINISTIC=1 assay run --bench-dir t --suite "$suite" --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --db t.db --json "$@"
}

# Not every container lets a process trace another.
needs_tracing() {
	assay doctor --json | jq -e '.findings[] | select(.name == "counters_syscalls") | .health == "ok"' || skip "system calls cannot be counted here"
}

@test "a bench that names the group syscalls counts the calls of its variants, in all threads" {
	needs_tracing
	run --separate-stderr toy known
	[ "$status" = 0 ]
	jq -e 'def calls($variant; $each; $thread): all(.cases[] | select(.variant == $variant);
			.counters.syscalls.value == $each + $thread * (.key | capture("/t=(?<t>[0-9]+)/").t | tonumber));
		calls("ref"; 0; 0) and calls("three"; 3; 0) and calls("threads"; 0; 2) and calls("sleeps"; 0; 0)' <<<"$output"
	jq -e 'all(.cases[].counters.syscalls; .source == "exact" and .per == "iteration" and .running_frac == 1)' <<<"$output"
	jq -e '[.cases[] | select(.variant == "three") | .counters.syscalls.how] | all(test("getppid 2")) and all(test("gettid 1"))' <<<"$output"
	# of a thread that the run starts, and of a handler of signals
	jq -e '[.cases[] | select(.variant == "starts" or .variant == "signals") | .counters.syscalls]
		| all(.value > 1) and (map(.how | test("getppid (100|1)\\b")) | all)' <<<"$output"
	run assay show last calls.toy/three --db t.db
	[[ $output == *"syscalls "*"3  exact, per call (ptrace, in an untimed run: "* ]]
}

@test "a policy demands that a run makes no system call" {
	needs_tracing
	toy known --threads 1 --only 'calls.toy/[rt]*' >/dev/null
	assay list --bench-dir t --suite known --only 'calls.toy/[rt]*' --plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --manifest --threads 1 >m.manifest
	printf 'limit "calls.toy/*" { require = "syscalls <= 0" }\n' >p.conf
	run --separate-stderr assay gate --suite known --db t.db --manifest m.manifest --policy p.conf --json
	[ "$status" = 1 ]
	jq -e '[.cases[] | select(.metric == "syscalls") | {(.key | split("/")[1]): [.verdict, .evidence]}] | add ==
		{"ref": ["PASS", "exact"], "three": ["REGRESSED", "exact"], "threads": ["REGRESSED", "exact"]}' <<<"$output"
}

@test "what is demanded where it is counted holds no run that does not count it" {
	cp -r "$ASSAY_SOURCE/tests/fixtures/heap" t
	cp -r "$ASSAY_SOURCE/bench/groups" t/
	sed -i '/counters/d' t/heap.bench
	plugin=$ASSAY_BUILD/tests/plugins/counted_op.so
	toy=(--bench-dir t --suite known --only 'heap.toy/known/*' --plugin "$plugin")
	ASSAY_DETERMINISTIC=1 assay run "${toy[@]}" --db t.db >/dev/null
	assay list "${toy[@]}" --manifest --threads 1 >m.manifest
	printf 'limit "heap.toy/*" { where_counted = {"heap_allocations <= 0", "syscalls <= 0"} }\n' >p.conf
	run --separate-stderr assay gate --suite known --db t.db --manifest m.manifest --policy p.conf --allow-no-baseline --json
	[ "$status" = 0 ]
	jq -e 'all(.cases[]; .metric != "heap_allocations" and .metric != "syscalls")' <<<"$output"
	printf 'limit "heap.toy/*" { require = "syscalls <= 0" }\n' >p.conf
	run --separate-stderr assay gate --suite known --db t.db --manifest m.manifest --policy p.conf --allow-no-baseline --json
	[ "$status" = 4 ]
	jq -e '[.cases[] | select(.metric == "syscalls")] | length == 1 and (.[0] | .verdict == "NOT_MEASURED"
		and (.reason | contains("group '"'syscalls'"' was not counted: --counters syscalls")))' <<<"$output"
	printf 'limit "heap.toy/*" { require = "syscals <= 0" }\n' >p.conf
	KEEP_DB=1 fails 2 "no case that 'heap.toy/*' selects has a metric 'syscals', did you mean 'syscalls'?" \
		gate --suite known --db t.db --manifest m.manifest --policy p.conf
}

@test "a worker that goes wrong while it is traced keeps its status, and leaves nothing behind" {
	needs_tracing
	run --separate-stderr toy wrong --threads 1
	[ "$status" = 4 ]
	jq -e '[.cases[] | {(.variant): [.status, .reason]}] | add | .crashes[0] == "crashed" and (.crashes[1] | test("killed by signal"))
		and .exits == ["crashed", "exited with status 7 while running"]
		and .hangs[0] == "timeout" and (.hangs[1] | test("^no result after 1 s"))
		and .fails[0] == "failed" and (.fails[1] | test("not while somebody watches"))' <<<"$output"
	jq -e 'all(.cases[]; .counters.syscalls == null)' <<<"$output"
}

@test "shipped kernels make no system call, which the shipped policy demands" {
	needs_tracing
	ASSAY_DETERMINISTIC=1 run --separate-stderr assay run --suite smoke --only '[mqd]*' --db s.db --json
	[ "$status" = 0 ]
	jq -e '([.cases[] | select(.status == "ok")] | map(.op | split(".")[0]) | unique) == ["dequantize", "matmul", "quantize"]
		and ([.cases[] | select(.status == "ok" and (.variant | IN("openblas", "onednn") | not))] | all(.counters.syscalls.value == 0))' <<<"$output"
	jq '[.cases[] | select(.status == "ok" and (.variant | IN("openblas", "onednn") | not))] | length' <<<"$output" >measured
	assay list --suite smoke --only '[mqd]*' --manifest >m.manifest
	run --separate-stderr assay gate --suite smoke --db s.db --manifest m.manifest --allow-no-baseline --json
	[ "$status" = 0 ]
	jq -e --argjson n "$(cat measured)" '[.cases[] | select(.metric == "syscalls")] | length == $n and all(.verdict == "PASS" and .evidence == "exact")' \
		<<<"$output"
}

@test "where a worker may not be traced the count says why and the case stands" {
	command -v strace >/dev/null || skip "no strace, which traces the worker first"
	cp -r "$ASSAY_SOURCE/tests/fixtures/syscalls" t
	cp -r "$ASSAY_SOURCE/bench/groups" t/
	ASSAY_DETERMINISTIC=1 strace -f -e trace=none -o /dev/null "$ASSAY" run --bench-dir t --suite known --threads 1 --only 'calls.toy/three/*' \
		--plugin "$ASSAY_BUILD/tests/plugins/counted_op.so" --db t.db --json >out.json || skip "strace may not trace here"
	jq -e 'all(.cases[]; .status == "ok" and .counters.syscalls == null and .unavailable.syscalls.source == "exact"
		and (.unavailable.syscalls.reason | test("run it without strace or debugger")))' out.json
}
