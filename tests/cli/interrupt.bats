#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Interrupts: they end a command at once or after what it keeps, say so, and leave nothing behind.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export TMPDIR=$PWD/tmp PATH=$PWD/bin:$PATH
	mkdir tmp bin
}

# stub NAME [LINE]: a program that does LINE, says that it runs, and goes on for a long time.
stub() {
	printf '#!/bin/sh\n%s\n>>"%s/runs"\nexec sleep 600\n' "${2:-}" "$PWD" >"bin/$1"
	chmod +x "bin/$1"
}

# await COMMAND...: until it succeeds, however busy the machine is
await() {
	for _ in $(seq 2400); do
		"$@" && return
		sleep 0.05
	done
	return 1
}

# stop SIGNAL STATUS ARGUMENT...: run the command until its program runs, send SIGNAL, and want STATUS.
# The parent of the tests may ignore HUP, as nohup does: the command has it as from a terminal.
stop() {
	local signal=$1 want=$2 status=0
	shift 2
	rm -f runs
	env --default-signal=HUP "$ASSAY" "$@" >out.txt 2>err.txt &
	await [ -e runs ]
	kill -"$signal" $!
	wait $! || status=$?
	[ "$status" = "$want" ]
}

nothing_left() {
	[ -z "$(ls -A tmp)" ]
}

# ended_when_asked PID: ask once more; succeeds when the process has ended
ended_when_asked() {
	kill -INT "$1" 2>/dev/null || return 0
	grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

@test "a command that has nothing to keep ends at once" {
	stub git
	for signal in INT TERM HUP; do
		stop "$signal" 130 compare main
		[ "$(cat err.txt)" = "assay: interrupted" ]
		[ ! -s out.txt ]
	done
}

@test "counting leaves no folder when it is interrupted" {
	needs_counts
	stub valgrind '[ "$1" = --version ] && echo valgrind-3.19.0 && exit'
	for signal in INT TERM HUP; do
		stop "$signal" 130 run --evidence exact --suite smoke --threads 1 --only 'quantize.q8_0/ref/*'
		[[ $(tail -n 1 err.txt) == "assay: interrupted"* ]]
		nothing_left
	done
}

@test "what a killed command left is swept by the next one, and nothing else is" {
	needs_counts
	stub valgrind '[ "$1" = --version ] && echo valgrind-3.19.0 && exit'
	mkdir tmp/assay-other tmp/assay-exact-1-1
	stop KILL 137 run --evidence exact --suite smoke --threads 1 --only 'quantize.q8_0/ref/*'
	[ "$(ls tmp | wc -l)" = 3 ]
	"$ASSAY" list --suite smoke >/dev/null
	[ "$(ls tmp)" = "$(printf 'assay-exact-1-1\nassay-other')" ]
}

@test "a plot is interrupted while it is drawn" {
	measure >/dev/null
	measure >/dev/null
	stub gnuplot '[ "$2" = --version ] && exit'
	for signal in INT TERM HUP; do
		stop "$signal" 130 plot trend dequantize -o trend.svg
		[ "$(cat err.txt)" = "assay: interrupted" ]
		nothing_left
		[ ! -e trend.svg ]
	done
}

@test "who asks twice is not kept waiting" {
	local status=0 pid first

	needs_counts
	# a simulator that does not even tell its version, after the times of a run
	stub valgrind
	ASSAY_DETERMINISTIC=1 "$ASSAY" run --bench-dir "$ASSAY_SOURCE/tests/fixtures/exact" --suite timed >out.txt 2>err.txt &
	pid=$!
	await [ -e runs ]
	first=${EPOCHREALTIME/./}
	kill -INT $pid
	# the same wish: terminals and timeout(1) tell a process and its group
	[ $((${EPOCHREALTIME/./} - first)) -gt 400000 ] || kill -INT $pid
	sleep 0.6
	kill -0 $pid
	await ended_when_asked $pid
	wait $pid || status=$?
	[ "$status" = 130 ]
	[ "$(cat err.txt)" = "assay: interrupted" ]
	"$ASSAY" show last --json | jq -e '.cases | length > 0'
}

@test "a checkout is interrupted before anything is built" {
	git init -q repo
	cd repo || return 1
	mkdir tmp bin
	printf 'build = "true"\nplugins = "."\n' >assay.conf
	git add assay.conf
	git -c user.name=n -c user.email=e@x commit -qm one
	printf '#!/bin/sh\n[ "$1" != -c ] && exec %s "$@"\n>>"%s/runs"\nexec sleep 600\n' "$(command -v git)" "$PWD" >../bin/git
	chmod +x ../bin/git
	XDG_CACHE_HOME=$PWD/cache stop INT 130 compare HEAD
	[[ $(tail -n 1 err.txt) == *": interrupted" ]]
}

@test "a daemon that an interrupted build started is ended with it" {
	git init -q repo
	cd repo || return 1
	mkdir tmp bin
	printf 'build = "sh build.sh"\nplugins = "."\n' >assay.conf
	# its parent is gone, and it has a session of its own
	cat >build.sh <<-END
		(setsid sh -c 'echo \$\$ >"$PWD/daemon"; trap "" INT TERM HUP; exec sleep 600' &)
		until [ -s "$PWD/daemon" ]; do sleep 0.1; done
		>>"$PWD/runs"
		exec sleep 600
	END
	git add assay.conf build.sh
	git -c user.name=n -c user.email=e@x commit -qm one
	XDG_CACHE_HOME=$PWD/cache stop INT 130 compare HEAD
	[[ $(tail -n 1 err.txt) == *": interrupted"* ]]
	[ ! -e "/proc/$(cat daemon)" ]
}

@test "the next export sweeps what a killed one left, and nothing else" {
	local other

	measure >/dev/null
	# numbers of a process that is gone, of one that runs, and a name that only looks like it
	true &
	wait $!
	other=run.csv.$$-0.tmp
	touch "run.csv.$!-0.tmp" "run.csv.$!-3.tmp" "$other" "other.csv.$!-0.tmp" run.csv.tmp
	"$ASSAY" export csv -o run.csv
	[ "$(echo ./*.tmp)" = "./other.csv.$!-0.tmp ./$other ./run.csv.tmp" ]
	[ -s run.csv ]
}
