# SPDX-License-Identifier: Apache-2.0
# Shared by tests of profiles: whether anything can be sampled here, and how far stacks reach.
load compare_helpers

# A program of this system, split, may be sampled, or the test says why not. It is compiled and asked once for a file of tests.
needs_samples() {
	local made=$BATS_FILE_TMPDIR/split
	if [ ! -e "$made.asked" ]; then
		cc -O2 -g -pthread -o "$made" "$ASSAY_SOURCE/tests/fixtures/profile/split.c"
		run --separate-stderr "$ASSAY" profile cpu --json -- "$made" 4000
		[ "$status" = 0 ] || [[ $stderr != *"cannot sample"* && $stderr != *"forbids"* && $stderr != *libdw* ]] || echo "$stderr" >"$made.why"
		touch "$made.asked"
	fi
	[ ! -e "$made.why" ] || skip "$(cat "$made.why")"
	cp "$made" split
}

# reach_the_start: most of the timed stacks in case.folded go on from op, phase and thread with the frame that the kernel or the C
# library starts a thread with. The first samples copy less of a stack, and all do until the sampler comes to look at them.
reach_the_start() {
	awk -F';' '{ n = $NF; sub(/.* /, "", n); if ($2 != "phase: sample") next; all += n
		if ($3 ~ /^thread / && $4 ~ /^(_start|libc\.so|\[unknown\]|.*clone.*)/) whole += n } END { exit !(whole >= all / 2) }' case.folded ||
		{ head -5 case.folded; return 1; }
}

# Where perf_event_open is forbidden, as it is in containers: ./refuse COMMAND runs a program so.
needs_timers() {
	cc -O2 -o refuse "$ASSAY_SOURCE/tests/fixtures/profile/refuse.c"
	./refuse true || skip "no seccomp here"
	[ -e "$ASSAY_BUILD/lib/assay/assay-timers.so" ] || skip "sanitizers must come first"
	needs_samples
}

# moved/bin/assay: all but what timers need.
move_without_timers() {
	mkdir -p moved/bin
	cp "$ASSAY" moved/bin/assay
	for part in "$ASSAY_BUILD"/*; do
		[ -e "moved/$(basename "$part")" ] || [ "$(basename "$part")" = lib ] || ln -s "$part" moved/
	done
}
