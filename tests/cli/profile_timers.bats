#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profile cpu where perf_event_open is forbidden: what timers sample, what they cannot, and what is then told.
load profile_helpers

@test "where perf_event_open is forbidden timers sample programs, their threads, children and what they exec" {
	needs_timers
	for how in '' thread fork exec; do
		# shellcheck disable=SC2086
		run --separate-stderr ./refuse "$ASSAY" profile cpu --rate 4999 --json -o split.folded -- ./split 40000 $how
		[ "$status" = 0 ] || { echo "$how: $stderr"; false; }
		is '.profile.source == "a timer of each thread'"'"'s CPU time; perf_event_open is forbidden"'
		# timers of CPU time are bound to the tick: the rate is what came of it
		is '.profile.rate_hz > 20 and .profile.rate_hz <= 4999 and .profile.samples > 20 and .profile.lost == 0'
		is '.profile.truncated <= 0.01 * .profile.samples + 1 and .profile.unresolved <= 0.02 * .profile.samples + 1'
		is '.profile.samples as $n | .functions as $f | [["seventy", 0.7], ["twenty", 0.2], ["ten", 0.1]] | all(. as [$name, $p] |
			([$f[] | select(.name == $name) | .total_frac][0] - $p | fabs) < 5 * ($p * (1 - $p) / $n | sqrt) + 0.01)'
		grep -q '^thread [0-9]*;.*;work;seventy;chain_\[i\] [0-9]*$' split.folded
	done
}

@test "where perf_event_open is forbidden timers sample cases, as root and as an ordinary user" {
	needs_timers
	run --separate-stderr ./refuse "$ASSAY" profile cpu quantize.q8_0/ref/n=1048576/t=1/warm --for 2s --json -o case.folded
	[ "$status" = 0 ] || { echo "$stderr"; false; }
	is '.profile.source == "a timer for each thread; perf_event_open is forbidden" and .profile.rate_hz == 997'
	is '.profile.timed_samples > 0'
	reach_the_start
	grep -q '^quantize.q8_0/ref;phase: sample;thread 1;_start;' case.folded
	threads=$(($(nproc) > 1 ? 2 : 1))
	run --separate-stderr ./refuse "$ASSAY" profile cpu stream.read/ref/level=l1/t=$threads/warm --for 1s --json
	is "(.threads | length) == $threads and (.threads | all(.self > 0))"
	[ "$(id -u)" = 0 ] || return 0
	command -v setpriv >/dev/null || skip "no setpriv"
	for program in "-- ./split 20000" "quantize.q8_0/ref/n=1048576/t=1/warm --for 300ms"; do
		# shellcheck disable=SC2086
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ./refuse "$ASSAY" profile cpu --json $program
		[ "$status" = 0 ] || { echo "$status $stderr"; false; }
		is '(.profile.source | startswith("a timer ")) and .profile.samples > 0'
		# and where it is not forbidden
		# shellcheck disable=SC2086
		run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$ASSAY" profile cpu --json $program
		[ "$status" = 0 ] || { echo "$status $stderr"; false; }
		is '.profile.samples > 0'
	done
}

@test "what timers cannot sample is told, and the program has run" {
	needs_timers
	cc -O2 -g -static -pthread -o still "$ASSAY_SOURCE/tests/fixtures/profile/split.c" || skip "no static libc"
	run --separate-stderr ./refuse "$ASSAY" profile cpu -o p.svg -- ./still 4000
	[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] && [ ! -e p.svg ]
	[[ $stderr == "assay: './still' cannot be sampled: no timer could be preloaded into it, as it is linked statically, or changes its user" ]]
	# the kernel's own samples need nothing preloaded
	run --separate-stderr "$ASSAY" profile cpu --rate 4999 --json -- ./still 20000
	[ "$status" = 0 ]
	is '.profile.samples > 20 and ([.functions[].name] | contains(["seventy", "twenty", "ten"]))'
}

@test "where neither the kernel nor timers sample, a line says what permits it" {
	needs_timers
	move_without_timers
	for what in '-- sleep 100' quantize.q8_0/ref/n=1048576/t=1/warm; do
		# shellcheck disable=SC2086
		run --separate-stderr ./refuse moved/bin/assay profile cpu -o p.svg $what
		[ "$status" = 2 ] && [ -z "$output" ] && [ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "assay: the kernel forbids sampling programs: 'sysctl kernel.perf_event_paranoid=2', or a container that allows perf_event_open(2), permits it; nor do timers work: there is no "*"assay-timers.so': make builds it" ]]
	done
	[ ! -e p.svg ]
}

@test "where nothing can be sampled a comparison has its verdict all the same" {
	needs_timers
	move_without_timers
	# shellcheck disable=SC2086
	run --separate-stderr ./refuse moved/bin/assay compare $SELECT "$PLUGINS/compare_base.so" "$PLUGINS/compare_double.so" --policy wide.conf --budget 30s
	[ "$status" = 1 ] || { echo "$status $output $stderr"; false; }
	[[ $output == *"cause unknown: "*"forbids sampling programs"* ]]
	run --separate-stderr "$ASSAY" compare --replay last
	[[ $output == *"cause unknown: "*"forbids sampling programs"* ]]
}
