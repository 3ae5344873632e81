#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Finds and installs the packages that a set of purposes needs: deps.sh [--check] PURPOSE..., of build run test install deb lint
# ci root pmu.
# `deps.sh --has PROBE` only says by its exit status whether one of the probes below finds what it looks for, and
# `deps.sh --names PURPOSE...` prints the names of Debian's packages for purposes, a line each, whether they are here or not.
# With --check, or where ASSAY_NO_INSTALL is 1, it installs nothing. When it fails, one line on standard output says why: exit
# status 1 for a required package that is missing in the end, 2 for another value of ASSAY_NO_INSTALL. ASSAY_DEPS_STATE names a
# file that remembers the optional packages it has named or failed to install, so that it does so once.
set -u

state=${ASSAY_DEPS_STATE:-/dev/null}

check=
if [ "${1-}" = --check ]; then
	check=1
	shift
fi

# purpose, need, probe, package of apt, of dnf, of pacman (-: there is none), what it is for
packages() {
	cat <<'END'
build      required  tool:pkg-config    pkg-config        pkgconf-pkg-config pkgconf finding the libraries below
build      required  lib:hwloc          libhwloc-dev      hwloc-devel      hwloc       topology and pinning
build      required  lib:sqlite3        libsqlite3-dev    sqlite-devel     sqlite      the database of results
build      required  lib:libconfuse     libconfuse-dev    libconfuse-devel confuse     bench, suite and policy files
build      required  lib:jansson        libjansson-dev    jansson-devel    jansson     JSON
build      required  lib:libxxhash      libxxhash-dev     xxhash-devel     xxhash      digests
build      optional  lib:papi           libpapi-dev       papi-devel       papi        hardware counters, software-defined events
build      optional  tool:valgrind      valgrind          valgrind-devel   valgrind    exact counts of instructions and cache misses
build      optional  file:/usr/include/Zydis/Zydis.h libzydis-dev zydis-devel zydis decoding of the instructions that are stepped through
build      optional  lib:libdw          libdw-dev         elfutils-devel   libelf      functions and lines of the code that is stepped through
build      optional  lib:libmicrohttpd  libmicrohttpd-dev libmicrohttpd-devel libmicrohttpd assay serve
run        optional  so:libopenblas.so.0 libopenblas0-pthread openblas-serial openblas the openblas variants of matmul
run        optional  so:libpcre2-8.so.0 libpcre2-8-0     pcre2            pcre2       pre-tokenizers of vocabularies other than llama-bpe, qwen2 and gpt-2
run        optional  tool:gnuplot       gnuplot-nox       gnuplot          gnuplot     plots
test       required  lib:cmocka         libcmocka-dev     libcmocka-devel  cmocka      unit tests
test       required  tool:bats          bats              bats             bash-bats   tests of the command line
test       required  tool:jq            jq                jq               jq          tests of JSON output
test       required  tool:curl          curl              curl             curl        tests of the server
test       optional  tool:xmllint       libxml2-utils     libxml2          libxml2     tests of JUnit output
test       optional  tool:strace        strace            strace           strace      a test of what cannot be traced twice
test       optional  tool:chromium-headless-shell chromium-headless-shell chromium-headless - tests of pages in a browser
deb        required  tool:dh           debhelper         -                -           building Debian packages
deb        required  file:/usr/share/doc/build-essential build-essential - -        building Debian packages
deb        required  tool:help2man     help2man          -                -           man pages
deb        optional  tool:lintian      lintian           -                -           checks of Debian packages
install    optional  tool:help2man     help2man          help2man         help2man    the man page
test       optional  tool:sqlite3       sqlite3           sqlite           sqlite      tests of what another version stored, and of real programs
test       optional  tool:lz4           lz4               lz4              lz4         tests of real programs and of codecs
test       optional  tool:zstd          zstd              zstd             zstd        tests of real programs and of codecs
test       optional  tool:openssl       openssl           openssl          openssl     tests of real programs
test       optional  tool:hyperfine     hyperfine         hyperfine        hyperfine   tests of real programs
test       optional  lib:benchmark      libbenchmark-dev  google-benchmark-devel benchmark tests of real programs
test       optional  so:libdeflate.so.0  libdeflate0       libdeflate       libdeflate  tests of codecs
test       optional  so:libsnappy.so.1   libsnappy1v5      snappy           snappy      tests of codecs
test       optional  tool:brotli         brotli            brotli           brotli      tests of codecs
test       optional  tool:tmux         tmux              tmux             tmux        tests of completion in a terminal
test       optional  tool:zsh          zsh               zsh              zsh         tests of completion
test       optional  tool:fish         fish              fish             fish        tests of completion
lint       optional  tool:shellcheck    shellcheck        ShellCheck       shellcheck  checks of scripts
lint       optional  tool:clang-format  clang-format      clang-tools-extra clang      checks of the format of C files
ci         optional  tool:g++           g++               gcc-c++          gcc         kernels for GPUs on an emulated grid
ci         optional  tool:clang         clang             clang            clang       building with a second compiler
ci         optional  fuzzer:clang      libclang-rt-dev   compiler-rt      compiler-rt fuzzing what reads files
ci         optional  tool:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc compiling kernels for Arm
ci         optional  file:/usr/aarch64-linux-gnu/lib/libc.so.6 libc6-dev-arm64-cross - aarch64-linux-gnu-glibc and linking them
ci         optional  tool:qemu-aarch64 qemu-user         qemu-user        qemu-user   testing them
root       optional  tool:mmdebstrap    mmdebstrap        mmdebstrap       mmdebstrap  bare systems to build and test in
pmu        optional  tool:qemu-system-aarch64 qemu-system-arm qemu-system-aarch64 qemu-system-aarch64 emulating a machine with a PMU
pmu        optional  tool:mmdebstrap    mmdebstrap        mmdebstrap       mmdebstrap  its kernel and libraries
pmu        optional  tool:cpio          cpio              cpio             cpio        what it starts from
pmu        optional  tool:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc building the program for it
END
}

present() {
	case $1 in
	lib:*) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "${1#lib:}" ;;
	file:*) [ -e "${1#file:}" ] ;;
	tool:*) command -v "${1#tool:}" >/dev/null 2>&1 ;;
	fuzzer:*)
		echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
			"${1#fuzzer:}" -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null
		;;
	so:*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -qF "${1#so:} " ;;
	esac
}

if [ "${1-}" = --has ]; then
	present "$2"
	exit
fi
if [ "${1-}" = --names ]; then
	shift
	packages | awk -v purposes=" $* " 'index(purposes, " " $1 " ") { print $4 }' | sort -u
	exit
fi

if command -v apt-get >/dev/null 2>&1; then
	manager=apt
elif command -v dnf >/dev/null 2>&1; then
	manager=dnf
elif command -v pacman >/dev/null 2>&1; then
	manager=pacman
else
	manager=none
fi

sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
fi

install_command() {
	case $manager in
	apt) echo "${sudo:+sudo }apt-get update && ${sudo:+sudo }apt-get install -y $*" ;;
	dnf) echo "${sudo:+sudo }dnf install -y $*" ;;
	pacman) echo "${sudo:+sudo }pacman -S --needed --noconfirm $*" ;;
	none) echo "with the package manager of this system: $*" ;;
	esac
}

# The package lists of a bare system are empty; they are fetched once.
updated=
install() {
	case $manager in
	apt)
		if [ -z "$updated" ]; then
			$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || return 1
			updated=1
		fi
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
		;;
	dnf) $sudo dnf install -y -q "$@" >&2 ;;
	pacman) $sudo pacman -Sy --needed --noconfirm "$@" >&2 ;;
	*) return 1 ;;
	esac
}

# Lines of "package probe purpose-text" that @need packages of the purposes in $purposes lack.
missing() {
	packages | while read -r purpose need probe apt dnf pacman why; do
		case " $purposes " in *" $purpose "*) ;; *) continue ;; esac
		[ "$need" = "$1" ] || continue
		present "$probe" && continue
		case $manager in
		dnf) name=$dnf ;;
		pacman) name=$pacman ;;
		*) name=$apt ;;
		esac
		[ "$name" = - ] && continue
		# One that was only named may still be installed; one that could not be installed is not tried again.
		if [ "$need" = optional ] && grep -qsx "failed $name" "$state"; then
			continue
		fi
		if [ "$need" = optional ] && [ -z "$can_install" ] && grep -qsx "$name" "$state"; then
			continue
		fi
		echo "$name $probe $why"
	done
}

# The packages of one or more lists of missing().
names() {
	printf '%s\n' "$@" | grep . | cut -d' ' -f1 | tr '\n' ' ' | sed 's/ $//'
}

say() {
	echo "$1" | while read -r name probe why; do
		printf '  %-18s %s\n' "$name" "$why"
	done >&2
}

# Says so; with a state file not again.
go_on_without() {
	echo "goes on without these optional packages:" >&2
	say "$1"
	echo "get them with: $(install_command "$(names "$1")")" >&2
	if [ "$state" != /dev/null ]; then
		mkdir -p "$(dirname "$state")"
		echo "$1" | cut -d' ' -f1 | sed "s/^/${can_install:+failed }/" >>"$state"
	fi
}

# Whoever writes yes must not get packages for it.
case ${ASSAY_NO_INSTALL:-0} in
0 | 1) ;;
*)
	echo "ASSAY_NO_INSTALL is '$ASSAY_NO_INSTALL', expected 1 (install nothing) or 0"
	exit 2
	;;
esac

can_install=1
if [ -n "$check" ] || [ "${ASSAY_NO_INSTALL:-}" = 1 ] || [ "$manager" = none ]; then
	can_install=
fi
purposes=${*:-build}
required=$(missing required)
optional=$(missing optional)

if [ -z "$required$optional" ]; then
	exit 0
fi
if [ -n "$can_install" ] && [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
	echo "cannot install packages: neither root nor sudo" >&2
	can_install=
fi

if [ -n "$can_install" ]; then
	echo "installing: $(names "$required" "$optional") (ASSAY_NO_INSTALL=1 installs nothing)" >&2
fi
if [ -n "$can_install" ] && [ -n "$required" ]; then
	# shellcheck disable=SC2046
	install $(names "$required")
	required=$(missing required)
fi
if [ -n "$can_install" ] && [ -n "$optional" ]; then
	# one that cannot be had must not keep the others away
	# shellcheck disable=SC2046
	install $(names "$optional") || for name in $(names "$optional"); do
		install "$name"
	done
	optional=$(missing optional)
fi

if [ -n "$required" ]; then
	echo "packages are missing: get them with '$(install_command "$(names "$required" "$optional")")'"
	exit 1
fi
if [ -n "$optional" ]; then
	go_on_without "$optional"
fi
exit 0
