#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the emulated machine with Debian's packages: build_guest.sh OUT. OUT/root has the kernel and libraries for arm64,
# OUT/aarch64 the program, OUT/initrd what the machine starts from. Exit status 77 with one line why where the packages cannot
# be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath -m "$1")
root=$out/root
libraries=$root/usr/lib/aarch64-linux-gnu

cannot() {
	echo "$1"
	exit 77
}

needs() {
	command -v "$1" >/dev/null || cannot "no $1: install $2"
}

needs qemu-system-aarch64 qemu-system-arm
needs mmdebstrap mmdebstrap
needs aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
needs cpio cpio

# Nothing of arm64 runs here: the packages are unpacked, no more. mmdebstrap names a descriptor that it opens to sh, which knows
# only those below 10: those of the caller are closed.
fetch_packages() {
	mkdir -p "$out"
	trap 'rm -rf "$root.tmp"' EXIT
	rm -rf "$root.tmp"
	timeout 300 mmdebstrap --variant=extract --architectures=arm64 --include="$(
		echo linux-image-cloud-arm64 busybox-static libc6-dev libhwloc-dev libsqlite3-dev libconfuse-dev libjansson-dev \
			libxxhash-dev libpapi-dev | tr ' ' ,
	)" bookworm "$root.tmp" >"$out/packages.log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- ||
		cannot "Debian's packages for arm64 cannot be had, or not within 5 minutes: see $out/packages.log"
	mv -T "$root.tmp" "$root"
}

build() {
	local gcc="aarch64-linux-gnu-gcc --sysroot=$root" build turns

	build=$(realpath --relative-to=. "$out")/aarch64 # a compiler cache writes dependencies with such names
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$root/usr/share/pkgconfig \
		env -u MAKEFLAGS -u MAKELEVEL make CC="$gcc" BUILD="$build" PAPI=1 VALGRIND=0 CUDA=0 SANITIZE= all
	for turns in base:200000 slow:210000; do
		$gcc -std=c11 -O2 -Wall -shared -fPIC -Wl,--build-id -Iharness/include -DTURNS="${turns#*:}" \
			-o "$out/${turns%:*}.so" tests/pmu/known_loop.c
	done
}

pack() {
	local guest=$out/guest

	rm -rf "$guest"
	mkdir -p "$guest"/{bin,lib/aarch64-linux-gnu,assay,proc,sys,dev,tmp,pmu}
	cp "$root/bin/busybox" "$guest/bin/"
	cp -a "$root/lib/ld-linux-aarch64.so.1" "$guest/lib/"
	cp -a "$root"/lib/aarch64-linux-gnu/*.so.* "$libraries"/*.so.* "$guest/lib/aarch64-linux-gnu/"
	cp -rL "$out/aarch64"/{bin,plugins,share} "$guest/assay/"
	cp -r tests/pmu/{bench,loop.manifest,limit.conf} "$out"/{base,slow}.so "$guest/pmu/"
	ln -s /assay/share/assay/bench/groups "$guest/pmu/bench/groups"
	install -m 755 tests/pmu/init "$guest/init"
	(cd "$guest" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$out/initrd"
}

[ -d "$root" ] || fetch_packages
build
pack
