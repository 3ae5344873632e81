# SPDX-License-Identifier: Apache-2.0
# Building for arm64 with Debian's packages, for scripts to source: tests/cross/arm64.sh, tests/pmu/build_guest.sh.

arm64_cannot() {
	echo "$1"
	exit 77
}

arm64_needs() {
	command -v "$1" >/dev/null || arm64_cannot "no $1: install $2"
}

# arm64_fetch ROOT PACKAGE...: unpacks packages into ROOT, unless it is there. Nothing of arm64 runs here: they are unpacked, no
# more. mmdebstrap names a descriptor that it opens to sh, which knows only those below 10: those of the caller are closed.
arm64_fetch() {
	local root=$1 packages link

	[ ! -d "$root" ] || return 0
	arm64_needs mmdebstrap mmdebstrap
	packages=$(printf '%s,' "${@:2}" libc6-dev libhwloc-dev libsqlite3-dev libconfuse-dev libjansson-dev libxxhash-dev libpapi-dev)
	mkdir -p "$(dirname "$root")"
	trap 'rm -rf "$root.tmp"' EXIT
	rm -rf "$root.tmp"
	timeout 300 mmdebstrap --variant=extract --architectures=arm64 --include="${packages%,}" \
		bookworm "$root.tmp" >"$root.log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- ||
		arm64_cannot "Debian's packages for arm64 cannot be had, or not within 5 minutes: see $root.log"
	# outside ROOT a linker finds nothing behind links such as libm.so, which name a path of the system
	find "$root.tmp" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root.tmp$(readlink "$link")" "$link"
	done
	mv -T "$root.tmp" "$root"
}

# arm64_make ROOT BUILD ARGUMENT...: calls make with a compiler for arm64 and the libraries in ROOT. The compiler is arm64_gcc.
arm64_make() {
	local root=$1 libraries=$1/usr/lib/aarch64-linux-gnu build

	arm64_needs aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
	arm64_gcc="aarch64-linux-gnu-gcc --sysroot=$root"
	build=$(realpath --relative-to=. "$2") # a compiler cache writes dependencies with such names
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$root/usr/share/pkgconfig \
		env -u MAKEFLAGS -u MAKELEVEL make CC="$arm64_gcc" CXX=aarch64-linux-gnu-g++ BUILD="$build" VALGRIND=0 CUDA=0 SANITIZE= "${@:3}"
}
