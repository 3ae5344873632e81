#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A missing part of the environment is named, with exit 2, since the user can mend it.
load helpers

# The first case of the last run.
a_case() {
	"$ASSAY" show last --json | jq -r '.cases[0].key'
}

@test "a closed standard output" {
	measure >/dev/null
	for command in list 'list --help' --help --version show doctor; do
		run --separate-stderr bash -c '"$0" $1 >&-' "$ASSAY" "$command"
		[ "$status" = 2 ]
		[ "${stderr_lines[-1]}" = "assay: cannot write to standard output: it is closed" ]
	done
	run --separate-stderr bash -c '"$0" run --bench-dir "$1" --only "*q8_0/ref*" >&-' "$ASSAY" "$BENCH"
	[ "$status" = 2 ]
	[ "${stderr_lines[-1]}" = "assay: cannot write to standard output: it is closed" ]
}

@test "a full standard output, of little and of much" {
	for command in --version 'list cases --suite full'; do
		run --separate-stderr bash -c '"$0" $1 >/dev/full' "$ASSAY" "$command"
		[ "$status" = 2 ]
		[ "${stderr_lines[-1]}" = "assay: cannot write to standard output: No space left on device" ]
	done
}

@test "a small stack is raised where that is allowed" {
	run --separate-stderr bash -c 'ulimit -s 64; exec "$0" verify --bench-dir "$1"' "$ASSAY" "$BENCH"
	[ "$status" = 2 ]
	[ "$stderr" = "assay: a process may have 64 KiB of stack here and this one needs 512: raise the limit with 'ulimit -s 8192'" ]
	run --separate-stderr bash -c 'ulimit -S -s 64; exec "$0" verify --bench-dir "$1"' "$ASSAY" "$BENCH"
	[ "$status" = 0 ]
}

@test "few open files are raised where that is allowed" {
	run --separate-stderr bash -c 'ulimit -n 10; exec "$0" verify --bench-dir "$1"' "$ASSAY" "$BENCH"
	[ "$status" = 2 ]
	[ "$stderr" = "assay: a process may have 10 open files here and this one needs 64: raise the limit with 'ulimit -n 1024'" ]
	run --separate-stderr bash -c 'ulimit -S -n 10; exec "$0" verify --bench-dir "$1"' "$ASSAY" "$BENCH"
	[ "$status" = 0 ]
	run --separate-stderr bash -c 'ulimit -n 64; exec "$0" verify --bench-dir "$1"' "$ASSAY" "$BENCH"
	[ "$status" = 0 ]
}

@test "no /proc" {
	need_own_mounts
	export ASSAY BENCH
	for command in list 'verify --bench-dir "$BENCH"' 'run --bench-dir "$BENCH"' gate; do
		[ "$command" != gate ] || measure >/dev/null
		run --separate-stderr in_own_mounts "mount -t tmpfs none /proc && exec \"\$ASSAY\" $command"
		[ "$status" = 2 ]
		[ "$stderr" = "assay: cannot read '/proc/self/exe': No such file or directory, is /proc mounted?" ]
	done
}

@test "a temporary folder that is not there" {
	command -v gnuplot || skip "no gnuplot"
	measure >/dev/null
	measure >/dev/null
	run --separate-stderr env TMPDIR=/nowhere "$ASSAY" plot trend "$(a_case)" -o t.svg
	[ "$status" = 2 ]
	[[ $stderr == *"cannot make a folder in '/nowhere': No such file or directory, set TMPDIR to one that can be written" ]]
	[ ! -e t.svg ]
}

@test "a full temporary folder" {
	local used key
	command -v gnuplot || skip "no gnuplot"
	need_own_mounts
	measure >/dev/null
	measure >/dev/null
	key=$(a_case)
	export ASSAY used key
	mkdir small
	for used in 8 12 16 20 24 28 32; do
		run --separate-stderr in_own_mounts 'mount -t tmpfs -o size=32k none small && head -c "${used}k" /dev/zero >small/x &&
			TMPDIR=$PWD/small exec "$ASSAY" plot trend "$key" -o t.svg'
		if [ "$status" = 0 ]; then
			tail -c 8 t.svg | grep -q '</svg>'
			rm t.svg
		else
			[ "$status" = 2 ]
			[[ $stderr == *"/small"*": No space left on device"* ||
				$stderr == *"no space is left in '"*"/small/"*"' for gnuplot, free some or set TMPDIR" ]]
			[ ! -e t.svg ]
		fi
	done
	[ "$status" = 2 ]
}

@test "a disk too full for a database" {
	need_own_mounts
	mkdir small
	export ASSAY
	for room in 4 64 200 400 500; do
		export room
		run --separate-stderr in_own_mounts 'mount -t tmpfs -o size=${room}k none small || exit 99
			"$ASSAY" run --only "quantize.q8_0/ref/*" --suite smoke --evidence stored --db small/a.db
			status=$?
			ls -A small
			exit $status'
		[ "$status" = 2 ]
		[[ $stderr == *"small/a.db': the disk is full; free some space"* ]]
		# nothing is left of it, nor is a run told
		[[ $output != *.db* ]]
	done
}

@test "what programs took is shown where the disk fills before it is stored" {
	need_own_mounts
	mkdir small
	export ASSAY
	for commands in true 'true false'; do
		export commands
		run --separate-stderr in_own_mounts 'mount -t tmpfs -o size=2m none small || exit 99
			"$ASSAY" time true --budget 1us --db small/a.db >small/first || exit 98
			cat /dev/zero 2>small/said >small/rest
			exec "$ASSAY" time $commands --ignore-failure --budget 1us --db small/a.db'
		[ "$status" = 2 ] && [ "$(grep -c '^  mean ' <<<"$output")" = "$(wc -w <<<"$commands")" ] && [[ $output != *"stored as"* ]]
		[[ $stderr == "assay: "*"small/a.db': the disk is full; free some space"* && $stderr != *$'\n'* ]]
	done
}

@test "no room for the records of a profile" {
	need_own_mounts
	mkdir small
	for kind in heap threads trace; do
		export ASSAY kind
		run --separate-stderr in_own_mounts 'mount -t tmpfs -o size=32k none small &&
			TMPDIR=$PWD/small exec "$ASSAY" profile $kind -- touch ran'
		[ "$status" = 2 ] && [ ! -e ran ]
		[[ $stderr == "assay: no room in '"*"/small': No space left on device, free some space or set TMPDIR to another folder" ]]
	done
}

@test "a repository of another user" {
	[ "$(id -u)" = 0 ] || skip "only root can give a folder away"
	git init -q repo
	git -C repo -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
	chown -R 12345 repo
	cd repo
	run --separate-stderr env HOME=/nowhere XDG_CONFIG_HOME=/nowhere "$ASSAY" compare HEAD
	[ "$status" = 2 ]
	[ "$stderr" = "assay: 'HEAD' is neither a plugin NAME.so nor a folder with plugins, and there is no git repository here that git trusts: it belongs to another user; trust it with 'git config --global --add safe.directory $PWD'" ]
}

@test "no git" {
	mkdir bin
	ln -s "$(command -v env)" bin/env
	run --separate-stderr env PATH="$PWD/bin" "$ASSAY" compare HEAD
	[ "$status" = 2 ]
	[[ $stderr == *"and there is no git on this machine: install the package git" ]]
}
