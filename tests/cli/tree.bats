#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The scripts around the program: layers, packages, installing.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "the tree keeps its layers" {
	run "$ASSAY_SOURCE/ci/check_layers.sh"
	echo "$output"
	[ "$status" = 0 ]
}

# planted FILE LINE: the layer check must complain about exactly this file.
planted() {
	rm -rf tree
	mkdir -p tree/harness/base tree/harness/stats tree/reports tree/bench tree/kernels/k tree/tests tree/harness/judge
	mkdir -p "tree/$(dirname "$1")"
	echo "$2" >"tree/$1"
	run "$ASSAY_SOURCE/ci/check_layers.sh" tree
	[ "$status" = 1 ] && [[ ${lines[0]} == "$1:1: "* ]] && [ "${#lines[@]}" = 1 ]
}

@test "a planted violation of the layers is found" {
	planted harness/base/a.c '#include "model/case.h"'
	planted harness/stats/a.c '#include "machine/clock.h"'
	planted harness/judge/a.c '#include "store/store.h"'
	planted harness/drive/a.c '#include "cli/cli.h"'
	planted harness/drive/a.c '#include <argp.h>'
	planted harness/cli/a.c '#include "store/store.h"'
	planted harness/cli/a.c '#include <jansson.h>'
	planted reports/a.c '#include "store/store.h"'
	planted harness/model/a.c '#include <hwloc.h>'
	planted harness/store/a.c '#  include  <hwloc/cpukinds.h>'
	planted bench/a.c '#include "base/err.h"'
	planted bench/b/a.c '#include "../../harness/base/err.h"'
	planted kernels/k/a.c '#include <cblas.h>'
	planted kernels/k/a.c '#include "../other/a.h"'
	planted kernels/k/a.c '#include "../../bench/a.h"'
	planted harness/novel/a.c '#include <stdio.h>'
}

# A PATH with nothing but what a bare system has.
bare_path() {
	mkdir bin
	for tool in sh cut tr sed grep cat id dirname mkdir printf env; do
		path=$(type -P $tool) && ln -s "$path" bin/
	done
}

# A package manager that only writes down what it was asked for, for a user who may install, whatever may be installed for these tests.
fake_apt() {
	unset ASSAY_NO_INSTALL
	bare_path
	printf '#!/bin/sh\necho "$@" >>"%s/apt.log"\n' "$PWD" >bin/apt-get
	rm bin/id
	printf '#!/bin/sh\necho 0\n' >bin/id
	chmod +x bin/apt-get bin/id
}

deps() {
	run --separate-stderr env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" "$@"
}

@test "missing packages are one line that says how to get them, and nothing is installed" {
	fake_apt
	for check in --check ''; do
		ASSAY_NO_INSTALL=$([ "$check" ] || echo 1) deps $check build
		[ "$status" = 1 ]
		# what has no file for pkg-config may be on this machine
		[ "${output/ libzydis-dev/}" = "packages are missing: get them with 'apt-get update && apt-get install -y pkg-config libhwloc-dev libsqlite3-dev libconfuse-dev libjansson-dev libxxhash-dev libpapi-dev valgrind libdw-dev libmicrohttpd-dev'" ]
		[ -z "$stderr" ]
	done
	[ ! -e apt.log ]
}

# bare_make GOAL...: make where every package is missing.
bare_make() {
	run --separate-stderr env -u MAKEFLAGS -u MAKELEVEL PATH="$PWD/bin" "$(type -P make)" -s -C "$ASSAY_SOURCE" BUILD="$PWD/b" "$@"
}

@test "make installs nothing but for bench and test, which say first what" {
	fake_apt
	for tool in awk sort rm find; do
		ln -s "$(type -P $tool)" bin/
	done
	for goal in all "" plugins unit-tests lint report gate compare install man; do
		bare_make $goal
		[ "$status" = 2 ]
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == *"*** packages are missing: get them with 'apt-get update && apt-get install -y pkg-config "* ]]
	done
	bare_make help
	[ "$status" = 0 ]
	[[ $output == *"make bench "* ]]
	# of the tree that is tested only a dry run
	bare_make -n clean
	[ "$status" = 0 ]
	[ ! -e apt.log ]
	for goal in bench test; do
		bare_make $goal ASSAY_NO_INSTALL=1
		[ "$status" = 2 ]
		[ ! -e apt.log ]
	done
	for goal in bench test; do
		bare_make $goal
		[ "$status" = 2 ]
		[[ ${stderr_lines[0]} == "installing: pkg-config libhwloc-dev "* ]]
		[[ $stderr == *"*** packages are missing: "* ]]
		grep -q '^install .* pkg-config libhwloc-dev' apt.log
		rm apt.log
	done
}

@test "an installed program finds its plugins, benches and baselines" {
	install_build PREFIX=/opt/assay DESTDIR="$PWD/root"
	[ -e root/opt/assay/include/assay/plugin.h ]
	grep -q '^prefix=/opt/assay$' root/opt/assay/lib/pkgconfig/assay.pc
	run root/opt/assay/bin/assay list suites
	[ "$status" = 0 ]
	[[ $output == *"quick"* ]]
	root/opt/assay/bin/assay list plugins | grep -q '^root/opt/assay/lib/assay/plugins/ops.so'
	mkdir elsewhere
	mv root/opt/assay elsewhere/
	elsewhere/assay/bin/assay list ops | grep -q quantize
}

@test "each command has a man page that says what its help text does, and each example is a command line" {
	type -P help2man man >/dev/null || skip "no help2man or no man"
	install_build PREFIX=/usr DESTDIR="$PWD/root"
	ln -s root/usr/share/man/man1 pages
	[ -z "$(MANROFFOPT=-ww man --warnings -l pages/*.1 2>&1 >/dev/null)" ]
	MANWIDTH=200 man -l pages/assay.1 | col -b >page
	grep -q '^ASSAY(1) ' page && grep -q "^$("$ASSAY" --version | sed 's/ (.*//') " page
	grep -Eq '^ +assay COMMAND \[OPTION...\]$' page
	"$ASSAY" --help | sed -n '/^example/q; s/^  \([a-z][a-z]*\)  *.*/\1/p' >commands
	[ "$(wc -l <commands)" -ge 12 ] && [ "$(wc -l <commands)" = "$(($(ls pages | wc -l) - 1))" ]
	while read -r command; do
		grep -q "^.BR assay-$command (1)" pages/assay.1
		MANWIDTH=200 man -l "pages/assay-$command.1" | col -b >section
		grep -q "^ASSAY-${command^^}(1)[[:space:]]" section
		grep -Eq "^ +assay $command " section
		! grep -q 'Mandatory or optional' section
		# options, and an example that was not filled into its neighbours
		"$ASSAY" "$command" --help-all >help
		for option in $(grep -Eo -- '^ {2,6}(-., )?--[a-z-]+' help | grep -Eo -- '--[a-z-]+'); do
			grep -Eq -- "^ +(-., )?$option\>" section
		done
		sed -n '/^examples\?:/,$s/^  //p' help | while read -r example; do
			grep -qxE " +$(sed 's/[][\.*^$()+?{|]/\\&/g' <<<"$example")" section
		done
		# an example has options that exist; --help keeps it from running
		sed -n '/^examples\?:/,$s/^  assay /assay /p' help | sed 's/ && .*//; s/ -- .*//; s/ [|<>].*//' | while read -r example; do
			bash -c "assay() { \"$ASSAY\" \"\$@\"; }; $example --help" >/dev/null
		done
	done <commands
}

@test "an installation has man pages, or says that it goes without; and completion" {
	local root=$PWD/root
	into() {
		install_build PREFIX=/usr DESTDIR="$root" "$@"
	}
	run into HELP2MAN=
	[ "$status" = 0 ]
	[ "$output" = "no help2man: the man pages are left out" ]
	[ ! -e root/usr/share/man/man1/assay.1 ]
	[ -s root/usr/share/bash-completion/completions/assay ] && [ -s root/usr/share/zsh/site-functions/_assay ] &&
		[ -s root/usr/share/fish/vendor_completions.d/assay.fish ]
	type -P help2man >/dev/null || skip "no help2man"
	run into
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ -s root/usr/share/man/man1/assay.1 ] && [ -s root/usr/share/man/man1/assay-compare.1 ]
}

@test "folders with spaces and quotes are installed to" {
	local root="$PWD/the user's root" prefix="/opt/a & b"
	install_build PREFIX="$prefix" DESTDIR="$root"
	[ "$(ls)" = "the user's root" ]
	"$root$prefix/bin/assay" list ops | grep -q quantize
	export PKG_CONFIG_PATH="$root$prefix/lib/pkgconfig"
	[ "$(pkg-config --variable=plugindir assay)" = "$prefix/lib/assay/plugins" ]
	[ "$(pkg-config --cflags assay | xargs -n 1 echo)" = "-I$prefix/include" ]
}
