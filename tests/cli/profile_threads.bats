#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile threads: states that add up to wall time, by what threads measure of themselves; where they wait; 2:1 work.
load compare_helpers
load browser

setup_file() {
	export MIX="$BATS_FILE_TMPDIR/mix"
	cc -O1 -g -pthread -D_GNU_SOURCE -o "$MIX" "$ASSAY_SOURCE/tests/fixtures/profile/thread_mix.c"
}

teardown() {
	browser_stop
}

# Nothing stands before the functions that wait in a sanitized build, and nothing is named without libdw.
needs_threads() {
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX"
	[ "$status" = 0 ] || [[ $stderr != *sanitizer* && $stderr != *libdw* ]] || skip "${stderr##*$'\n'}"
	[ "$status" = 0 ] || { echo "$stderr"; false; }
}

# Of each thread: its states add up to its wall time.
adds_up='(.threads | length > 0) and all(.threads[]; .wall_ns > 0 and
	((.running_ns + .waiting_ns + .blocked_ns + .ready_ns) / .wall_ns - 1 | fabs) <= 0.001)'

@test "profile threads says in one line what it cannot do" {
	needs_threads
	fails 2 "--rate is for profiles of the kind cpu, not threads" profile threads --rate 10 -- true
	fails 2 "--sample is for profiles of the kind heap, not threads" profile threads --sample 1KiB -- true
	fails 2 "--lines is for profiles of the kind cpu, not threads" profile threads --lines -- true
	fails 2 "no case or command given: 'assay profile threads CASE'" profile threads
	fails 2 "./none" profile threads -- ./none
	fails 2 "none/p.svg" profile threads -o none/p.svg -- true
	if cc -O1 -static -o static -x c - <<<'int main(void) { return 0; }' 2>/dev/null; then
		fails 2 "the functions that wait cannot be intercepted in './static', which is linked statically" profile threads -- ./static
	fi
}

@test "a wait of 0.2 s is found in its call, its thread and its state" {
	needs_threads
	while read -r way call barrier; do
		run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" "$way"
		[ "$status" = 0 ] || { echo "$way: $stderr"; false; }
		is "$adds_up"
		is '.profile.kind == "threads" and .profile.unit == "ns" and .profile.lost == 0 and (.threads | length) == 3'
		# what the thread measured of itself, and 3 ms for its end
		read -r wall cpu < <(awk '/^waiter/ { print $3, $5 }' <<<"$stderr")
		jq -e --argjson wall "$wall" --argjson cpu "$cpu" --arg call "$call" --argjson barrier "$barrier" '
			([.threads[] | select(.name | endswith(": waiter"))][0] | .wall_ns >= $wall and
			.running_ns >= 0.98 * $cpu and .running_ns <= 1.02 * $cpu + 3e6 and
			.waiting_ns + .blocked_ns + .ready_ns > 190e6) and
			([.waits[] | select(.call == $call and .barrier == $barrier and any(.stack[]; .function == "wait_for_it"))] |
			length == 1 and .[0].waits >= 1 and .[0].ns > 190e6 and .[0].longest_ns > 190e6 and .[0].threads == 1
			and .[0].longest_ns <= .[0].ns and .[0].stack[0].file == "thread_mix.c")' <<<"$output" ||
			{ echo "$way: $wall $cpu"; jq -c '.threads, .waits' <<<"$output"; false; }
	done <<-END
		mutex pthread_mutex_lock false
		rwlock pthread_rwlock_rdlock false
		barrier pthread_barrier_wait true
		cond pthread_cond_wait false
		sem sem_wait false
		read read false
		sleep sleep false
	END
	# a call that stands behind nothing
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" "lock file"
	is "$adds_up"
	is '[.waits[] | select(.call == "calls that are not followed" and .ns > 190e6)] | length == 1'
}

@test "threads that share a processor are ready half of the time" {
	needs_threads
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" ready
	is "$adds_up"
	is '[.threads[1:][] | .ready_ns > 0.6 * .running_ns and .running_ns > 190e6] == [true, true]'
	is '.efficiency | .scheduling < 0.9 and .load_balance <= 1 and (.parallel - .load_balance * .serialisation * .scheduling | fabs) < 1e-9'
}

@test "whichever way a program ends, what its threads did is known" {
	needs_threads
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" mutex fork
	is "$adds_up"
	is '(.threads | length) == 6 and all(.threads[]; .name | test("^mix [0-9]+: thread [123]"))'
	is '[.waits[] | select(.call == "pthread_mutex_lock" and .ns > 380e6 and .threads == 2)] | length == 1'
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" mutex exec
	is "$adds_up"
	is '(.threads | length) == 4 and ([.threads[] | select(.running_ns > 45e6)] | length) == 2'
	run --separate-stderr "$ASSAY" profile threads --json -- "$MIX" mutex killed
	[ "$status" = 0 ] && [[ $stderr == *"warning: the program was killed by signal 6"* && $stderr == *"1 thread was killed: what came after the last wait is not known"* ]]
	is "$adds_up"
	is '[.waits[] | select(.call == "pthread_mutex_lock" and .ns > 190e6)] | length == 1'
	# the main thread waits when the time is over
	run --separate-stderr "$ASSAY" profile threads --for 3s --json -- "$MIX" '' stays
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is "$adds_up"
	is '.threads[0].blocked_ns > 0.3e9 and .threads[0].wall_ns <= .profile.seconds * 1e9'
}

@test "work of 2:1 in a case is reported, with the barrier that the other waits at" {
	needs_threads
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" profile threads $SELECT --plugin "$PLUGINS/thread_uneven.so" --threads 2 --for 1s --json \
		-o uneven.svg lenient.triple/uneven
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is "$adds_up"
	is '.profile.case | startswith("lenient.triple/uneven/") and contains("t=2")'
	# a host may take time from a thread while its clock of CPU time runs on
	is '.threads | length == 2 and (.[0].running_ns / .[1].running_ns | . > 1.2 and . < 4)'
	is '(.threads | map(.running_ns) | (add / 2 / max)) as $balance | .efficiency.load_balance / $balance - 1 | fabs < 1e-6'
	# the second waits until the first has done its part
	is '.threads[1].waiting_ns > 0 and any(.waits[]; .barrier and .call == "the next parallel region" and .threads == 1)'
	is '.timeline.threads | length == 2 and all(.[]; (.running | add) > 0)'
	is '[.timeline.threads[] | [.running, .waiting, .blocked, .ready] | map(add) | add] as $t | [.threads[].wall_ns] as $w |
		all(range(2); ($t[.] / $w[.] - 1 | fabs) < 0.001)'
	browser_start
	browser_open "$PWD/uneven.svg"
	page_is 'document.querySelectorAll("path.run").length === 2 && document.querySelectorAll("rect.see title").length > 10'
	page_is '[...document.querySelectorAll("text")].every(t => { const b = t.getBBox(); return b.x >= 0 && b.x + b.width <= 1200; })'
	# ticks are round numbers, from zero
	page_is '(() => { const t = [...document.querySelectorAll(".tick + text")].map(t => t.textContent); return t.length >= 2 && t.length <= 8 &&
		t[0] === "0 s" && t.slice(1).every(t => /^(1|2|4|5|6|8|10|12|14|15|20|25|30|40|50|60|80|[1-9]00|[1-9]0)(\.0+)? m?s$|^\d+(\.\d+)? s$/.test(t)); })()'
	[ -z "$(browser_complaints)" ]
	# the page has it above its tables, with its colours; a thread that slept all the time is folded away
	for kind in threads trace; do
		run --separate-stderr "$ASSAY" profile $kind -o $kind.html -- "$MIX" mutex
		[ "$status" = 0 ] || { echo "$stderr"; false; }
		browser_open "$PWD/$kind.html"
		page_is 'document.querySelectorAll("figure svg").length === 1 && document.querySelectorAll("main table tr").length >= 4'
		[ $kind = trace ] || page_is '[1, 2, 3].includes(document.querySelectorAll("figure svg.timeline path.run").length) && document.querySelectorAll("main table").length >= 2 &&
			getComputedStyle(document.querySelector(".timeline .row")).fill === "rgb(226, 226, 226)"'
		[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
	done
}

@test "a profile of threads is stored, shown, held against another and written as folded stacks" {
	needs_threads
	run --separate-stderr "$ASSAY" profile threads --name before --json -o p.folded -- "$MIX" mutex
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	taken=$output
	grep -q '^thread 3: waiter;blocked: pthread_mutex_lock;.*;wait_for_it [0-9]*$' p.folded
	[ "$(awk '{ n += $NF } END { printf "%.0f", n }' p.folded)" = "$(jq '[.threads[].wall_ns] | add' <<<"$output")" ]
	run --separate-stderr "$ASSAY" show before --json -o p.svg
	[ "$status" = 0 ] && [ -s p.svg ]
	[ "$(jq -cS '.threads, .efficiency, .waits' <<<"$output")" = "$(jq -cS '.threads, .efficiency, .waits' <<<"$taken")" ]
	is '.timeline == null and .waits[0].waits > 0'
	run --separate-stderr "$ASSAY" show before
	[ "$(grep -c 'threads profile of ' <<<"$output")" = 1 ]
	[[ $output == *"threads profile of "*" mutex"*"thread 3: waiter"*"parallel efficiency"*"pthread_mutex_lock"*"wait_for_it (thread_mix.c:"* ]]
	run --separate-stderr "$ASSAY" profile threads --name after -- "$MIX" cond
	run --separate-stderr "$ASSAY" diff before after
	[ "$status" = 0 ] && [[ $output == *wait_for_it* ]] || { echo "$output$stderr"; false; }
}

@test "names of threads and programs are text" {
	needs_threads
	cp "$MIX" '<b>&"x'
	run --separate-stderr "$ASSAY" profile threads -o p.svg -- './<b>&"x' mutex fork
	[ "$status" = 0 ]
	grep -q '&lt;b&gt;&amp;x [0-9]*: thread 3: waiter' p.svg || grep -q '&lt;b&gt;&amp;&quot;x [0-9]*: thread 3' p.svg
	! grep -q '<b>' p.svg
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay-threads-*' -newer p.svg)" ]
}
