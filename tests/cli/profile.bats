#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile: what bad input gets, programs and cases whose split is known, and the flame graph in a browser.
load compare_helpers
load browser

teardown() {
	browser_stop
}

# A program of this system may be sampled, or the test says why not.
needs_samples() {
	cc -O2 -g -pthread -o split "$ASSAY_SOURCE/tests/fixtures/profile/split.c"
	run --separate-stderr "$ASSAY" profile cpu --json -- ./split 4000
	[ "$status" = 0 ] || [[ $stderr != *"cannot sample"* && $stderr != *"forbids"* && $stderr != *libdw* ]] || skip "$stderr"
}

@test "profile says in one line what it cannot do" {
	fails 2 "nothing to profile: expected 'profile cpu CASE' or 'profile cpu -- COMMAND...'" profile
	fails 2 "no kind of profile is called 'disk', expected cpu, heap" profile disk x
	fails 2 "no case or command given: 'assay profile cpu CASE' or 'assay profile cpu -- COMMAND...'" profile cpu
	fails 2 "no case or command given" profile cpu --
	fails 2 "a case and a command exclude each other" profile cpu x -- true
	fails 2 "unexpected argument 'y': profile takes one case" profile cpu x y
	fails 2 "bad case ''" profile cpu ''
	fails 2 "--rate is '0', expected a whole number from 1 to 10000" profile cpu x --rate 0
	fails 2 "--rate is '10001', expected" profile cpu x --rate 10001
	fails 2 "--for" profile cpu x --for never
	fails 2 "unknown suite 'none'" profile cpu x --suite none
	fails 2 "no case of suite 'quick' matches 'matmul.ternray', did you mean 'matmul.ternary'?" profile cpu matmul.ternray
	fails 2 "'dequantize' selects " profile cpu dequantize
	fails 2 "cannot write 'a.txt': its name must end in .text, .json, .folded, .svg, .html or .dhat" profile cpu x -o a.txt
	fails 2 "./none" profile cpu -- ./none
}

@test "a program of a known split gets it: own time, callers, a thread, a child, another program" {
	needs_samples
	for how in '' thread fork exec; do
		# shellcheck disable=SC2086
		run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -o split.folded -- ./split 20000 $how
		[ "$status" = 0 ] || { echo "$how: $stderr"; false; }
		is '.schema == 1 and .profile.kind == "cpu" and .profile.case == null and (.profile.command | startswith("./split 20000"))'
		is '.profile.samples > 300 and .profile.truncated <= 0.01 * .profile.samples and .profile.unresolved <= 0.02 * .profile.samples'
		# five sigma each: one in a million runs fails by chance
		is '.profile.samples as $n | .functions as $f | [["seventy", 0.7], ["twenty", 0.2], ["ten", 0.1]] | all(. as [$name, $p] |
			([$f[] | select(.name == $name) | .total_frac][0] - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.01)'
		is '[.functions[] | select(.name == "chain" and .inlined and .file == "split.c" and .line > 0 and .self > 0)] | length == 1'
		grep -q '^thread [0-9]*;.*;work;seventy;chain_\[i\] [0-9]*$' split.folded
		[ "$(awk '{ n += $NF } END { print n }' split.folded)" = "$(jq .profile.samples <<<"$output")" ]
	done
}

@test "what is too short, stripped or fails is told" {
	needs_samples
	fails 2 "'true' ended before it was sampled: profile something that runs longer" profile cpu -- true
	strip -o bare split
	run --separate-stderr "$ASSAY" profile cpu -- ./bare 20000
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	[[ $stderr == *"% of the samples lie in code without names: build it with -g and do not strip it"* ]]
	[[ $output == *"[unknown]"*"bare"* ]]
	run --separate-stderr "$ASSAY" profile cpu -- sh -c './split 4000; exit 3'
	[ "$status" = 0 ]
	[[ $stderr == *"warning: the program exited with status 3"* ]]
	# it would run for long
	run --separate-stderr "$ASSAY" profile cpu --for 200ms --json -- ./split 100000000
	[ "$status" = 0 ]
	is '.profile.seconds < 20'
	fails 2 "none/p.svg" profile cpu -o none/p.svg -- ./split 4000
}

@test "where sampling is forbidden a line says what permits it" {
	cc -O2 -o refuse "$ASSAY_SOURCE/tests/fixtures/profile/refuse.c"
	./refuse true || skip "no seccomp here"
	for what in '-- sleep 100' quantize.q8_0/ref/n=1048576/t=1/warm; do
		# shellcheck disable=SC2086
		run --separate-stderr ./refuse "$ASSAY" profile cpu -o p.svg $what
		[ "$status" = 2 ] && [ -z "$output" ] && [ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "assay: the kernel forbids to sample programs: 'sysctl kernel.perf_event_paranoid=2', or a container that allows perf_event_open(2), permits it" ||
			$stderr == *libdw* ]]
	done
	[ ! -e p.svg ]
}

@test "a case has its op, phase and thread above its frames, and the time of an iteration by function" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu quantize.q8_0/ref/n=1048576/t=1/warm --for 300ms --json --lines -o case.folded
	[ "$status" = 0 ]
	is '.profile.case == "quantize.q8_0/ref/n=1048576/t=1/warm" and .profile.command == null and .profile.timed_samples > 0'
	is '(.lines | length > 0) and (.instructions | length > 0) and (.threads | length > 0)'
	# own times of all functions are the iteration's, but for samples that have no function at all
	is '([.functions[].ns_per_iteration] | add) / .profile.iteration_ns | . > 0.98 and . < 1.001'
	is '[.functions[] | select(.ns_per_iteration > 0) | .ci[0] <= .ns_per_iteration and .ns_per_iteration <= .ci[1]] | all'
	# sanitized code is not always unwound to its first frame
	grep -q '^quantize.q8_0/ref;phase: sample;thread 1;'"$(grep -q sanitizers "$ASSAY_BUILD/features" || echo '_start;')" case.folded
	[ ! -e assay.db ]
}

@test "a profile is stored by its name, shown, carried elsewhere and pruned" {
	needs_samples
	fails 2 "bad --name 'last': 'last' and numbers are taken" profile cpu --name last -- ./split 4000
	fails 2 "bad --name ''" profile cpu --name '' -- ./split 4000
	fails 2 "--lines, --output, --kind and --sanitize are of 'assay show profile'" show --lines
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --name before --json -- ./split 4000
	[ "$status" = 0 ]
	is '.profile.id == 1 and .profile.name == "before"'
	taken=$output
	run --separate-stderr "$ASSAY" show profile before --json -o before.svg
	[ "$status" = 0 ] && [ -s before.svg ]
	[ "$(jq -S . <<<"$output")" = "$(jq -S . <<<"$taken")" ]
	KEEP_DB=1 fails 2 "no profile 'befor', did you mean 'before'?" show profile befor
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 4000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 4000 >/dev/null
	run --separate-stderr "$ASSAY" show profile last --json
	is '.profile.id == 3 and .profile.name == "after"'
	run --separate-stderr "$ASSAY" db export all.jsonl
	[ "$status" = 0 ]
	run --separate-stderr "$ASSAY" db import all.jsonl --db other.db --json
	is '.profiles_added == 3'
	run --separate-stderr "$ASSAY" db merge other.db --json
	is '.profiles_added == 0 and .known == 3'
	run --separate-stderr "$ASSAY" db prune --keep-runs 1 --json
	is '.profiles_removed == 1'
	run --separate-stderr "$ASSAY" db check --json
	is '.profiles == 2 and .faults == 0'
	run --separate-stderr "$ASSAY" show profile 1
	[ "$status" = 2 ]
}

@test "profiles are taken again and again, and the newest of them stay" {
	needs_samples
	fails 2 "--every, --keep and --keep-days store profiles: give them a --name" profile cpu --every 1s -- ./split 4000
	run --separate-stderr timeout -s INT 8 "$ASSAY" profile cpu --rate 4999 --every 200ms --keep 2 --name hourly --json -- ./split 2000
	[ "$status" = 130 ] || [ "$status" = 124 ]
	[ "$(jq -s 'map(.profile.id) | . == [range(1; length + 1)] and length > 3' <<<"$output")" = true ]
	last=$(jq -s 'last | .profile.id' <<<"$output")
	run --separate-stderr "$ASSAY" db check --json
	is '.profiles == 2 and .faults == 0'
	run --separate-stderr "$ASSAY" show profile hourly --json
	is ".profile.id >= $last"
}

@test "two stored profiles are told apart by function, and as a flame graph" {
	needs_samples
	"$ASSAY" profile cpu --rate 4999 --name before -- ./split 10000 >/dev/null
	"$ASSAY" profile cpu --rate 4999 --name after -- ./split 30000 thread >/dev/null
	KEEP_DB=1 fails 2 "no profile 'afte', did you mean 'after'?" diff before afte
	KEEP_DB=1 fails 2 "both sides are profile 1: name two" diff before before
	KEEP_DB=1 fails 2 "--csv is of runs: 'before' and 'after' are profiles" diff before after --csv
	KEEP_DB=1 fails 2 "its name must end in .text, .json, .html or .svg" diff before after -o d.csv
	run --separate-stderr "$ASSAY" diff before after --json -o d.svg
	[ "$status" = 0 ]
	is '.unit == "ns" and .base.name == "before" and .head.name == "after"'
	is '.functions[0] | .name == "chain" and .change > 0 and .ci[0] > 0 and .ci[0] < .change and .change < .ci[1]'
	run --separate-stderr "$ASSAY" diff --profiles 1 2
	[ "$status" = 0 ] && [[ $output == *"processor time: "*chain*split.c* ]]
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/d.svg"
	page_value 'globalThis.frame = (n, below) => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n && (!below || document.querySelectorAll(".f")[g.dataset.p].dataset.n === below));
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	# work below main is gone, and shows only in the view of the base
	page_is 'frame("work", "main").classList.contains("off") '
	page_is '[...document.querySelectorAll(".f:not(.off)")].some(g => g.dataset.n === "work")'
	page_is '/vanished/.test(frame("work", "main").textContent)'
	page_value 'press("v"); true' >/dev/null
	page_is '!frame("work", "main").classList.contains("off") && document.querySelector("[data-a=view]").textContent === "view: base (v)"'
	page_value 'press("v"); true' >/dev/null
	page_is 'frame("work", "main").classList.contains("off")'
	[ -z "$(browser_complaints)" ]
}

# ---- because ----

@test "a regression is explained by the function that grew, after the verdict" {
	needs_samples
	KEEP_DB=1 fails 2 "--profile is 'yes', expected auto, no or all" compare x y --profile yes
	printf 'margin "*" { paired = "2%%" }\n' >narrow.conf
	for _ in 1 2 3; do
		compare five five_slower --policy narrow.conf --budget 2s --json
		[ "$status" = 1 ] || [ "$status" = 0 ] || { echo "$stderr"; false; }
		# what another program disturbs is told, and the right one named at last
		is '.cases | all(.because == null or .because.function == "part_three" or .because.function == null)'
		[ "$(jq -r '.cases[0].because.function' <<<"$output")" != part_three ] || break
	done
	is '.cases[0] | .verdict == "REGRESSED" and (.because | .function == "part_three" and .file == "five_parts.h" and .line > 0
		and .change_ns > 0 and .ci[0] > 0 and .ci[0] <= .change_ns and .change_ns <= .ci[1] and .whole_ns > 0 and .samples > 500)'
	is '.cases[0].because.text | startswith("because part_three (five_parts.h:")'
	# the profiled processes are none of those that were judged
	run --separate-stderr "$ASSAY" judge --json
	is '.verdict == "REGRESSED" and .cases[0].because == null'
	compare five five_slower --policy narrow.conf --budget 1s --profile no
	[[ $output == *REGRESSED* && $output != *because* ]]
}

@test "where nothing can be sampled a comparison has its verdict all the same" {
	cc -O2 -o refuse "$ASSAY_SOURCE/tests/fixtures/profile/refuse.c"
	./refuse true || skip "no seccomp here"
	# shellcheck disable=SC2086
	run --separate-stderr ./refuse "$ASSAY" compare $SELECT "$PLUGINS/compare_base.so" "$PLUGINS/compare_double.so" --policy wide.conf --budget 2s
	[ "$status" = 1 ] || { echo "$status $output $stderr"; false; }
	[[ $output == *"because of what is not known: "*"forbids to sample programs"* || $output == *libdw* ]]
}

@test "the flame graph zooms, searches, filters and takes keys" {
	needs_samples
	run --separate-stderr "$ASSAY" profile cpu -o split.svg -- ./split 20000
	[ "$status" = 0 ]
	xmllint --noout split.svg 2>/dev/null || ! command -v xmllint
	browser_start
	browser_screen 1240 light
	browser_open "$PWD/split.svg"
	page_value 'globalThis.shown = () => [...document.querySelectorAll(".f:not(.off)")].map(g => g.dataset.n);
		globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		globalThis.width = n => +frame(n).querySelector("rect").getAttribute("width");
		globalThis.press = (...keys) => keys.forEach(key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))); true' >/dev/null
	page_is 'width("seventy") > 2 * width("twenty") && width("twenty") > width("ten") && Math.abs(width("all") - 1180) < 0.1'
	# a click zooms: callers keep the whole width, siblings go
	page_value 'frame("twenty").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'width("twenty") === 1180 && !shown().includes("seventy") && shown().includes("main") && frame("main").classList.contains("above")'
	page_value 'press("Escape"); true' >/dev/null
	page_is 'shown().includes("seventy") && width("seventy") < 900'
	# search marks and counts, whatever is typed
	page_value 'press("/", "t", "e", "n", "$", "Enter"); true' >/dev/null
	page_is 'frame("ten").classList.contains("found") && !frame("seventy").classList.contains("found")'
	page_is '/^search .ten\$.: \d+\.\d %$/.test(document.querySelector("[data-a=found]").textContent)'
	page_value 'press("/", "(", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.found").length === 0'
	# a filter leaves what matches and its callers
	page_value 'press("r", "f", "t", "w", "e", "n", "t", "y", "Enter"); true' >/dev/null
	page_is 'width("twenty") > 1179 && !shown().includes("seventy") && shown().includes("main")'
	page_value 'press("r"); true' >/dev/null
	page_is 'shown().includes("seventy")'
	# the keyboard walks up from the root, and zooms
	page_value 'press("ArrowUp", "ArrowUp", "Enter"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.here").length === 1 && document.querySelectorAll(".f.above").length === 2'
	page_value 'press("Backspace", "Backspace"); true' >/dev/null
	page_is 'document.querySelectorAll(".f.above").length === 0'
	# colours, least width and theme
	page_is '(() => { const before = frame("ten").querySelector("rect").style.fill; press("c"); return before !== frame("ten").querySelector("rect").style.fill })()'
	page_is '(() => { const before = shown().length; press("m", "m", "m", "m", "m"); return shown().length <= before && document.querySelector("[data-a=least]").textContent !== "least 0.3 px (m)" })()'
	page_is '(() => { const paper = () => getComputedStyle(document.querySelector(".paper")).fill, before = paper(); press("t"); return before !== paper() })()'
	browser_screen 1240 dark
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "the flame graph stands in the page of a profile, of a difference, and of a case in a report" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" run --only "$key" --budget 500ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" profile cpu "$key" --for 500ms --name before -o p.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" profile cpu "$key" --for 500ms --name after >/dev/null
	run --separate-stderr "$ASSAY" diff before after -o d.html
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	"$ASSAY" report -o r.html
	browser_start
	browser_screen 1240 dark
	for page in p d; do
		browser_open "$PWD/$page.html"
		page_is 'document.querySelectorAll("svg.flame").length === 1 && [...document.querySelectorAll("td")].some(c => c.textContent.startsWith("quantize_q8_0"))'
		# the picture is as high as what is shown
		page_is '(() => { const svg = document.querySelector("svg.flame"), high = () => +svg.getAttribute("viewBox").split(" ")[3], before = high();
			document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" })); for (let i = 0; i < 4; i++) document.dispatchEvent(new KeyboardEvent("keydown", { key: "m" }));
			return high() <= before && getComputedStyle(svg.querySelector(".paper")).fill === "rgb(22, 24, 28)" })()'
		page_is 'checkWidth(checkTexts()).length === 0'
	done
	page_is '[...document.querySelectorAll("th")].some(c => c.textContent === "95 % interval")'
	# the table of cases has none; the page of the case has it, and only there keys are taken
	browser_open "$PWD/r.html"
	page_is '[...document.querySelectorAll("figure.profile")].every(f => f.hidden)'
	page_value 'location.hash = "#case='"$key"'"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is 'document.querySelectorAll("#case figure.profile:not([hidden]) svg.flame").length === 1'
	page_value 'globalThis.frame = n => [...document.querySelectorAll(".f")].find(g => g.dataset.n === n);
		frame("phase: sample").dispatchEvent(new MouseEvent("click", { bubbles: true })); true' >/dev/null
	page_is 'frame("phase: sample").querySelector("rect").getAttribute("width") === "1180.00" && frame("all").classList.contains("above")'
	page_value 'location.hash = "#list"; new Promise(done => setTimeout(done, 300))' >/dev/null
	page_is '(() => { const e = new KeyboardEvent("keydown", { key: "/", cancelable: true, bubbles: true }); document.dispatchEvent(e); return !e.defaultPrevented })()'
	[ -z "$(browser_complaints)" ] || { browser_complaints | cut -c1-300; false; }
}

@test "a profile says what bounds its case, by the newest run of the same build" {
	needs_samples
	local key=quantize.q8_0/ref/n=1048576/t=1/warm
	"$ASSAY" profile cpu "$key" --for 300ms --name before >/dev/null
	KEEP_DB=1 fails 2 "nothing is known of what bounds '$key': 'assay run' has to measure it first" show profile before --bottlenecks
	"$ASSAY" run --only "$key" --only 'stream.read' --only 'peak.f32*' --budget 300ms --evidence stored >/dev/null
	run --separate-stderr "$ASSAY" show profile before --bottlenecks --json
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.bottleneck_run == 1 and .bottleneck.key == "'"$key"'" and (.bottleneck.bound | IN("unknown", "memory", "compute", "latency")) and .bottleneck.roof_frac > 0'
	is '.bottleneck.advice | length > 0 and all(.priority >= 1 and .priority <= 3) and ([.[].priority] | . == sort)'
	# the profile is the evidence of allocation
	is '.bottleneck.missing | test("allocations") | not'
	run --separate-stderr "$ASSAY" show profile before --bottlenecks
	[[ $output == *"bound by "*", by run 1: "* ]] && grep -Eq '^  [1-3]\. [a-z_]+: .+ \(.+\)$' <<<"$output"
	"$ASSAY" profile cpu --name prog -- ./split 4000 >/dev/null
	KEEP_DB=1 fails 2 "--bottlenecks is of profiles of cases: this one is of a program" show profile prog --bottlenecks
}
