# SPDX-License-Identifier: Apache-2.0
# Shared by all tests of the command line.
bats_require_minimum_version 1.5.0

: "${ASSAY_SOURCE:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${ASSAY_BUILD:=$ASSAY_SOURCE/build}"
ASSAY=$ASSAY_BUILD/bin/assay
BENCH=$ASSAY_SOURCE/tests/fixtures/bench

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# jq 1.6 ends with 0 when there was nothing to read, so that 'jq -e' would hold of a program that printed nothing.
jq() {
	local shown

	[[ " $* " =~ ' -'[a-z]*e[a-z]*' ' ]] || {
		command jq "$@"
		return
	}
	shown=$(command jq "$@") || return
	[ -n "$shown" ] || {
		echo "jq $*: nothing to read" >&2
		return 1
	}
	printf '%s\n' "$shown"
}

assay() {
	"$ASSAY" "$@"
}

# fails STATUS TEXT ARGUMENT...: exits so, with exactly one line on standard error that contains TEXT and nothing on standard output.
fails() {
	local want=$1 text=$2
	shift 2
	run --separate-stderr "$ASSAY" "$@"
	if [ "$status" != "$want" ] || [ "${#stderr_lines[@]}" != 1 ] || [ -n "$output" ] || [[ $stderr != "assay: "*"$text"* ]]; then
		printf 'assay %s\nwant status %s and one line with: %s\ngot %s\n%s\nstdout: %s\n' "$*" "$want" "$text" "$status" "$stderr" \
			"$output"
		return 1
	fi
	# nothing was measured
	[ ! -e assay.db ] || [ -n "${KEEP_DB:-}" ]
}

# Where nothing can be counted (no valgrind, or a program that cannot run under it) a test of counts says so and ends.
needs_counts() {
	local why

	why=$("$ASSAY" run --evidence exact --bench-dir "$ASSAY_SOURCE/tests/fixtures/exact" --db counts.db --json |
		jq -r '.cases[0] | select(.status == "skipped") | .reason') || true
	rm -f counts.db
	[ -z "$why" ] || skip "$why"
}

# alive TEXT: the command lines of running processes that have TEXT in them.
alive() {
	local p
	for p in /proc/[0-9]*; do
		{ tr '\0' ' ' <"$p/cmdline" | grep -F -e "$1"; } 2>/dev/null || true
	done
}

# in_own_mounts COMMAND: run it by sh where mounts are its own.
in_own_mounts() {
	if [ "$(id -u)" = 0 ]; then
		unshare -m sh -c "$1"
	else
		unshare -rm sh -c "$1"
	fi
}

need_own_mounts() {
	in_own_mounts 'mount -t tmpfs none /mnt' 2>/dev/null || skip "no mount namespaces for this user"
}

# interrupt PID: what Ctrl-C does to a job of this shell, which ends with its status.
interrupt() {
	local status=0

	kill -INT "$1"
	wait "$1" || status=$?
	[ "$status" = 130 ]
}

# interrupt_at_call N: a valgrind in bin/. Whoever starts it for the Nth time is interrupted, and from outside, since a signal of
# what the program started is no interrupt.
interrupt_at_call() {
	mkdir bin
	cat >bin/valgrind <<-END
		#!/bin/bash
		# the program itself, not the process that counts a case for it
		program() {
			local above=\$(cut -d ' ' -f 4 "/proc/\$PPID/stat")
			[ "\$(cat "/proc/\$above/comm")" = assay ] && echo "\$above" || echo "\$PPID"
		}
		[ "\$1" = --version ] || echo >>calls
		[ ! -e calls ] || [ "\$(wc -l <calls)" -lt $1 ] || { program >wanted; sleep 5; }
		exec $(command -v valgrind) "\$@"
	END
	chmod +x bin/valgrind
	{
		for _ in $(seq 1200); do
			[ ! -s wanted ] || break
			sleep 0.05
		done
		kill -INT "$(cat wanted)"
	} 3>&- &
}

# One quick run into assay.db, with work that does not depend on time.
measure() {
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$BENCH" "$@"
}

# The manifest of the suite that measure() runs, and a policy without limits.
manifest() {
	"$ASSAY" list --manifest --bench-dir "$BENCH" >quick.manifest
	: >plain.conf
}

# Can the program be counted by valgrind here? Sanitized ones cannot.
counts_exactly() {
	command -v valgrind >/dev/null && ! grep -q sanitizers "$ASSAY_BUILD/features"
}

# install_build VARIABLE=VALUE...: installs the build that is tested; one at a time, since files of tests run beside each other,
# and without the jobs of a make that runs these tests. Nothing is compiled, so that no steps are counted.
install_build() {
	flock "$ASSAY_BUILD/installing" env -u MAKEFLAGS -u MAKELEVEL COUNTING=1 make -s -C "$ASSAY_SOURCE" BUILD="$ASSAY_BUILD" install-files "$@"
}
