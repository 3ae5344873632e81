#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `make soak` calls a failure, shown by programs that fail in each way. The attacks themselves are no part of `make test`.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p build/bin programs/bin
	ln -s "$ASSAY_BUILD/tests" build/tests
	ln -s "$ASSAY_BUILD/bin/assay" build/bin/assay
	export SEED=7 TIME=1 TRIES=1
}

soak() {
	run --separate-stderr "$ASSAY_SOURCE/tests/soak/soak.sh" build programs
}

# program FILE: a program that does what the standard input says
program() {
	rm -f "$1"
	cat >"$1"
	chmod +x "$1"
}

@test "a soak finds what crashes, fails inside, and leaves processes or files" {
	program programs/bin/assay <<-'END'
		#!/bin/bash
		case $1 in
		show) echo 'assay: no idea' >&2 && exit 70 ;;
		gate) kill -SEGV $$ ;;
		baseline) sleep 60 >/dev/null 2>&1 & ;;
		compare) touch "$TMPDIR/left" ;;
		plot) echo 'x.c:1:2: runtime error: overflow' >&2 ;;
		esac
	END
	KIND=database soak
	[ "$status" = 1 ]
	[[ $output == *"database: internal error, assay: no idea: "*"'assay show'; again: make soak KIND=database SEED=7 TRIES=1"* ]]
	[[ $output == *"database: ends with 139: "*"'assay gate "* ]]
	[[ $output == *"database: processes are left: sleep 60"* ]]
	[[ $output == *"database: temporary files are left: left"* ]]
	[[ $output == *"database: x.c:1:2: runtime error: overflow"* ]]
	[ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
}

@test "a soak finds a lost run and a hang" {
	program build/bin/assay <<-END
		#!/bin/bash
		if [ -d tmp ]; then
			rm -f assay.db
			exec sleep 60
		fi
		exec '$ASSAY' "\$@"
	END
	KIND=plugins soak_limit_s=1 soak
	[ "$status" = 1 ]
	[[ $output == *"plugins: hangs: "* ]]
	[[ $output == *"plugins: a finished run is lost: "* ]]
}

@test "a soak finds a command that an interrupt does not end, and half a file" {
	program build/bin/assay <<-END
		#!/bin/bash
		if [ -d tmp ]; then
			trap ': >trend.svg.tmp; sleep 2; exit 0' INT TERM HUP
			for _ in {1..600}; do sleep 0.1; done
		fi
		exec '$ASSAY' "\$@"
	END
	KIND=interrupts soak
	[ "$status" = 1 ]
	[[ $output == *"interrupts: ends with 0, not as an interrupt does: SIG"*" of 'assay "* ]]
	[[ $output == *"interrupts: half a file is left: trend.svg.tmp: "* ]]
}

@test "a soak finds an input that takes too long" {
	KIND=large large_limit_ms=0 soak
	[ "$status" = 1 ]
	[[ $output =~ "large: takes "[1-9][0-9]*" ms of the processor: 'assay " ]]
	[ "$(grep -c 'again: make soak' <<<"$output")" = 1 ]
}

@test "a soak that finds nothing counts its tries" {
	program programs/bin/assay <<<'#!/bin/sh'
	KIND=database TRIES=2 soak
	[ "$status" = 0 ]
	[[ ${lines[2]} =~ ^database\ +2\ +0$ ]]
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
}

@test "a soak says what it cannot take" {
	TIME=soon soak
	[ "$status" = 2 ]
	[[ $stderr == *"TIME is 'soon'"* ]]
	KIND=nothing soak
	[ "$status" = 2 ]
	[[ $stderr == *"KIND is 'nothing', expected one of: controller"* ]]
	SEED=x soak
	[ "$status" = 2 ]
	[[ $stderr == *"SEED is 'x'"* ]]
}
