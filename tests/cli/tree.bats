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

@test "files of a folder that include each other in a circle are found" {
	mkdir -p tree/harness/base tree/kernels/k tree/reports tree/bench tree/tests
	echo '#include "base/b.h"' >tree/harness/base/a.c
	echo >tree/harness/base/a.h
	echo >tree/harness/base/b.h
	echo '#include "base/c.h"' >tree/harness/base/b.c
	echo >tree/harness/base/c.h
	run -0 "$ASSAY_SOURCE/ci/check_layers.sh" tree
	echo '#include "base/a.h"' >tree/harness/base/c.h
	run -1 "$ASSAY_SOURCE/ci/check_layers.sh" tree
	[[ $output == *"contains a loop"*"harness/base/a"* ]]
	rm tree/harness/base/c.h
	echo '#include "y.h"' >tree/kernels/k/x.h
	echo '#include "x.h"' >tree/kernels/k/y.h
	run -1 "$ASSAY_SOURCE/ci/check_layers.sh" tree
	[[ $output == *"contains a loop"*"kernels/k/x"* ]]
}

@test "a folder that grows beyond its budget of lines is found" {
	mkdir -p tree/{reports,bench,kernels} tree/harness/stats
	budget=$(sed -n 's|^harness/stats ||p' "$ASSAY_SOURCE/ci/check_layers.sh")
	seq "$budget" >tree/harness/stats/README.md
	run -0 "$ASSAY_SOURCE/ci/check_layers.sh" tree
	echo >>tree/harness/stats/README.md
	run -1 "$ASSAY_SOURCE/ci/check_layers.sh" tree
	[ "$output" = "harness/stats has $((budget + 1)) lines, its budget is $budget" ]
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

@test "what is missing is named and then installed, after one update, and what still is missing is said" {
	fake_apt
	deps build test
	[ "$status" = 1 ]
	[[ ${stderr_lines[0]} == "installing: pkg-config libhwloc-dev "*" libcmocka-dev bats "*" libpapi-dev valgrind "* ]]
	[[ ${stderr_lines[0]} == *"(ASSAY_NO_INSTALL=1 installs nothing)" ]]
	[ "$(grep -c '^update' apt.log)" = 1 ]
	grep -q '^install .*pkg-config libhwloc-dev .*libcmocka-dev' apt.log
	[[ $output == "packages are missing: "*"libhwloc-dev"* ]]
}

@test "an optional package that is missing is said once, and once more when it could not be installed" {
	fake_apt
	export ASSAY_DEPS_STATE=$PWD/state
	deps --check run
	[ "$status" = 0 ]
	[[ $stderr == *"goes on without"*"gnuplot"*"get them with: apt-get update && apt-get install"* ]]
	deps --check run
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ ! -e apt.log ]
	deps run
	[ "$status" = 0 ]
	[[ ${stderr_lines[0]} == "installing: "*"gnuplot"* && $stderr == *"goes on without"*"gnuplot"* ]]
	rm apt.log
	for again in "deps run" "deps --check run"; do
		$again
		[ "$status" = 0 ]
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

@test "compilers for 32 bits and for other C libraries are refused in one line" {
	printf '#!/bin/sh\necho 4\n' >narrow
	printf '#!/bin/sh\ncase "$(cat)" in *SIZEOF*) echo 8 ;; *) echo __GLIBC__ ;; esac\n' >other
	chmod +x narrow other
	for compiler in narrow other; do
		run --separate-stderr env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ASSAY_SOURCE" BUILD="$PWD/b" CC="$PWD/$compiler" -n all
		[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] || { echo "$stderr"; false; }
		[[ $stderr == *"$compiler compiles for "*", and assay needs "* ]]
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
	mkdir pages
	"$ASSAY_SOURCE/ci/man_page.sh" "$ASSAY" 1.2.3 pages
	[ -z "$(MANROFFOPT=-ww man --warnings -l pages/*.1 2>&1 >/dev/null)" ]
	MANWIDTH=200 man -l pages/assay.1 | col -b >page
	grep -q '^ASSAY(1) ' page && grep -q '^assay 1.2.3 ' page
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

@test "make says what it builds, and shows the compiler with V=1 or when it complains" {
	build() {
		# what is missing on this machine is said on standard error
		run --separate-stderr env -u MAKEFLAGS -u MAKELEVEL make -C "$ASSAY_SOURCE" --no-print-directory ASSAY_NO_INSTALL=1 BUILD="$PWD/b" \
			CFLAGS=-O0 "$@" "$PWD/b/plugins/overhead.so"
	}
	build
	[ "$status" = 0 ]
	[ "$output" = $'  make  obj/kernels/overhead/overhead_plugin.o\n  make  plugins/overhead.so' ]
	# nothing to do is nothing to say
	build
	[ -z "$output" ]
	# a value of the command line stays one, whatever a shell would make of it
	rm b/plugins/overhead.so
	build PREFIX="$PWD/the user's & b;touch $PWD/run"
	[ "$output" = '  make  plugins/overhead.so' ]
	[ ! -e run ]
	build V=1 CFLAGS='-O0 -DX'
	[[ $status = 0 && $output == *" -DX "*"overhead_plugin.o"* && $output != *"  make  "* ]]
	build CFLAGS='-O0 -Dint=oops'
	[[ $status = 2 && $output == '  make  obj/kernels/overhead/overhead_plugin.o' && $stderr == *error:* ]]
}
