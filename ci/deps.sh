#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Finds, and unless ASSAY_NO_INSTALL=1 installs, the packages that a set of purposes needs: deps.sh build run test lint ci.
# Exit status 1 when something required is missing in the end, 2 for another value of ASSAY_NO_INSTALL. ASSAY_DEPS_STATE names a
# file that remembers which optional packages cannot be had, so that they are asked for and mentioned once.
set -u

state=${ASSAY_DEPS_STATE:-/dev/null}

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
run        optional  so:libopenblas.so.0 libopenblas0-pthread openblas-serial openblas the openblas variants of matmul
run        optional  tool:gnuplot       gnuplot-nox       gnuplot          gnuplot     plots
test       required  lib:cmocka         libcmocka-dev     libcmocka-devel  cmocka      unit tests
test       required  tool:bats          bats              bats             bash-bats   tests of the command line
test       required  tool:jq            jq                jq               jq          tests of JSON output
test       optional  tool:xmllint       libxml2-utils     libxml2          libxml2     tests of JUnit output
test       optional  tool:strace        strace            strace           strace      a test of what cannot be traced twice
lint       optional  tool:shellcheck    shellcheck        ShellCheck       shellcheck  checks of scripts
lint       optional  tool:clang-format  clang-format      clang-tools-extra clang      checks of the format of C files
ci         optional  tool:clang         clang             clang            clang       building with a second compiler
ci         optional  tool:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc compiling kernels for Arm
ci         optional  file:/usr/aarch64-linux-gnu/lib/libc.so.6 libc6-dev-arm64-cross - aarch64-linux-gnu-glibc and linking them
ci         optional  tool:qemu-aarch64 qemu-user         qemu-user        qemu-user   testing them
END
}

present() {
	case $1 in
	lib:*) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "${1#lib:}" ;;
	file:*) [ -e "${1#file:}" ] ;;
	tool:*) command -v "${1#tool:}" >/dev/null 2>&1 ;;
	so:*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -qF "${1#so:} " ;;
	esac
}

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
		if [ "$need" = optional ] && grep -qsx "$name" "$state"; then
			continue
		fi
		echo "$name $probe $why"
	done
}

names() {
	echo "$1" | cut -d' ' -f1 | tr '\n' ' ' | sed 's/ $//'
}

say() {
	echo "$1" | while read -r name probe why; do
		printf '  %-18s %s\n' "$name" "$why"
	done >&2
}

# Said now; with a state file not again.
give_up_on() {
	echo "goes on without these optional packages:" >&2
	say "$1"
	if [ "$state" != /dev/null ]; then
		mkdir -p "$(dirname "$state")"
		names "$1" | tr ' ' '\n' | grep . >>"$state"
	fi
}

# Whoever writes yes must not get packages for it.
case ${ASSAY_NO_INSTALL:-0} in
0 | 1) ;;
*)
	echo "ASSAY_NO_INSTALL is '$ASSAY_NO_INSTALL', expected 1 (install nothing) or 0" >&2
	exit 2
	;;
esac

purposes=${*:-build}
required=$(missing required)
optional=$(missing optional)

if [ -z "$required$optional" ]; then
	exit 0
fi

can_install=1
if [ "${ASSAY_NO_INSTALL:-}" = 1 ]; then
	can_install=
elif [ "$manager" = none ]; then
	can_install=
elif [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
	echo "cannot install packages: neither root nor sudo" >&2
	can_install=
fi

if [ -n "$can_install" ] && [ -n "$required" ]; then
	echo "installing: $(names "$required")" >&2
	# shellcheck disable=SC2046
	install $(names "$required")
	required=$(missing required)
fi
if [ -n "$can_install" ] && [ -n "$optional" ]; then
	echo "installing: $(names "$optional")" >&2
	# one that cannot be had must not keep the others away
	# shellcheck disable=SC2046
	install $(names "$optional") || for name in $(names "$optional"); do
		install "$name"
	done
	optional=$(missing optional)
fi

if [ -n "$required" ]; then
	echo "these packages are missing:" >&2
	say "$required"
	[ -n "$optional" ] && say "$optional"
	echo "get them with: $(install_command "$(names "$required")${optional:+ $(names "$optional")}")" >&2
	exit 1
fi
if [ -n "$optional" ]; then
	give_up_on "$optional"
	echo "get them with: $(install_command "$(names "$optional")")" >&2
fi
exit 0
