#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The scripts around the program: layers, packages, installing.
load helpers

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

@test "what the layers allow is not complained about" {
	rm -rf tree
	mkdir -p tree/harness/store tree/reports tree/bench/b tree/kernels/k tree/tests
	echo '#include <sqlite3.h>' >tree/harness/store/a.c
	echo '#include "model/case.h"' >tree/reports/b.c
	printf '#include "assay/plugin.h"\n#include "../c.h"\n#include <stdint.h>\n' >tree/bench/b/c.c
	printf '#include <cblas.h>\n#include "../shared.h"\n' >tree/kernels/k/k_openblas.c
	run "$ASSAY_SOURCE/ci/check_layers.sh" tree
	echo "$output"
	[ "$status" = 0 ]
	mkdir -p tree/harness/base
	echo >tree/harness/base/b.c
	run "$ASSAY_SOURCE/ci/check_layers.sh" tree
	[ "$status" = 1 ]
	[[ $output == *"more than once"*"b.c"* ]]
}

# A PATH with nothing but what a bare system has.
bare_path() {
	mkdir bin
	for tool in sh cut tr sed grep cat id dirname mkdir printf env; do
		path=$(type -P $tool) && ln -s "$path" bin/
	done
}

@test "missing packages are named with how to get them, and nothing is installed" {
	bare_path
	printf '#!/bin/sh\necho "$@" >>apt.log\n' >bin/apt-get
	chmod +x bin/apt-get
	run --separate-stderr env PATH="$PWD/bin" ASSAY_NO_INSTALL=1 sh "$ASSAY_SOURCE/ci/deps.sh" build
	[ "$status" = 1 ]
	[[ $stderr == *"libhwloc-dev"*"topology and pinning"* ]]
	[[ $stderr == *"get them with: "*"apt-get install -y pkg-config libhwloc-dev"* ]]
	[ ! -e apt.log ]
}

@test "other systems call the packages otherwise" {
	bare_path
	printf '#!/bin/sh\necho "$@" >>dnf.log\n' >bin/dnf
	chmod +x bin/dnf
	run --separate-stderr env PATH="$PWD/bin" ASSAY_NO_INSTALL=1 sh "$ASSAY_SOURCE/ci/deps.sh" build run
	[ "$status" = 1 ]
	# what holds the program pkg-config
	[[ $stderr == *"dnf install -y pkgconf-pkg-config hwloc-devel "* ]]
	[ ! -e dnf.log ]
	mv bin/dnf bin/pacman
	run --separate-stderr env PATH="$PWD/bin" ASSAY_NO_INSTALL=1 sh "$ASSAY_SOURCE/ci/deps.sh" build
	[[ $stderr == *"pacman -S --needed --noconfirm pkgconf hwloc "* ]]
}

@test "nothing is installed for a value of ASSAY_NO_INSTALL that means nothing" {
	bare_path
	printf '#!/bin/sh\necho "$@" >>apt.log\n' >bin/apt-get
	chmod +x bin/apt-get
	for value in yes 2 true; do
		run --separate-stderr env PATH="$PWD/bin" ASSAY_NO_INSTALL=$value sh "$ASSAY_SOURCE/ci/deps.sh" build
		[ "$status" = 2 ]
		[ "$stderr" = "ASSAY_NO_INSTALL is '$value', expected 1 (install nothing) or 0" ]
	done
	[ ! -e apt.log ]
}

@test "what is missing is installed, after one update, and what still is missing is said" {
	bare_path
	printf '#!/bin/sh\necho "$@" >>apt.log\n' >bin/apt-get
	printf '#!/bin/sh\necho 0\n' >bin/id.new && rm bin/id && mv bin/id.new bin/id
	chmod +x bin/apt-get bin/id
	run --separate-stderr env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" build test
	[ "$status" = 1 ]
	[ "$(grep -c '^update' apt.log)" = 1 ]
	grep -q '^install .*pkg-config libhwloc-dev .*libcmocka-dev' apt.log
	[[ $stderr == *"these packages are missing"* ]]
}

@test "only the checks of a change ask for further compilers and a linter" {
	bare_path
	printf '#!/bin/sh\necho "$@" >>apt.log\n' >bin/apt-get
	printf '#!/bin/sh\necho 0\n' >bin/id.new && rm bin/id && mv bin/id.new bin/id
	chmod +x bin/apt-get bin/id
	run env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" build run test
	grep -q '^install .*bats' apt.log
	grep -q '^install .*libxml2-utils' apt.log
	run grep -E 'clang|shellcheck|aarch64|qemu' apt.log
	[ "$status" = 1 ]
	run env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" lint ci
	[ "$status" = 0 ]
	grep -q '^install .*shellcheck clang-format clang gcc-aarch64-linux-gnu .*qemu-user$' apt.log
}

@test "an optional package that is missing is said once" {
	bare_path
	export ASSAY_NO_INSTALL=1 ASSAY_DEPS_STATE=$PWD/state
	run --separate-stderr env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" run
	[ "$status" = 0 ]
	[[ $stderr == *"goes on without"*"gnuplot"* ]]
	run --separate-stderr env PATH="$PWD/bin" sh "$ASSAY_SOURCE/ci/deps.sh" run
	[ "$status" = 0 ]
	[ -z "$stderr" ]
}

@test "an installed program finds its plugins, benches and baselines" {
	# without the jobs of a make that runs these tests
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ASSAY_SOURCE" BUILD="$ASSAY_BUILD" install-files PREFIX=/opt/assay DESTDIR="$PWD/root"
	[ -e root/opt/assay/include/assay/plugin.h ]
	[ -e root/opt/assay/share/man/man1/assay.1 ]
	grep -q '^prefix=/opt/assay$' root/opt/assay/lib/pkgconfig/assay.pc
	run root/opt/assay/bin/assay list suites
	[ "$status" = 0 ]
	[[ $output == *"quick"* ]]
	root/opt/assay/bin/assay list plugins | grep -q '^root/opt/assay/lib/assay/plugins/ops.so'
	mkdir elsewhere
	mv root/opt/assay elsewhere/
	elsewhere/assay/bin/assay list ops | grep -q quantize
}

@test "folders with spaces and quotes are installed to" {
	local root="$PWD/the user's root" prefix="/opt/a & b"
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ASSAY_SOURCE" BUILD="$ASSAY_BUILD" install-files PREFIX="$prefix" DESTDIR="$root"
	[ "$(ls)" = "the user's root" ]
	"$root$prefix/bin/assay" list ops | grep -q quantize
	export PKG_CONFIG_PATH="$root$prefix/lib/pkgconfig"
	[ "$(pkg-config --variable=plugindir assay)" = "$prefix/lib/assay/plugins" ]
	[ "$(pkg-config --cflags assay | xargs -n 1 echo)" = "-I$prefix/include" ]
}
