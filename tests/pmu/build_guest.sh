#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the emulated machine with Debian's packages: build_guest.sh OUT. OUT/root has the kernel and libraries for arm64,
# OUT/aarch64 the program, OUT/initrd what the machine starts from. Exit status 77 with one line why where the packages cannot
# be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/cross/arm64.bash

out=$(realpath -m "$1")
root=$out/root
libraries=$root/usr/lib/aarch64-linux-gnu

arm64_needs qemu-system-aarch64 qemu-system-arm
arm64_needs cpio cpio

build() {
	local turns

	arm64_make "$root" "$out/aarch64" PAPI=1 all
	for turns in base:200000 slow:210000; do
		$arm64_gcc -std=c11 -O2 -Wall -shared -fPIC -Wl,--build-id -Iharness/include -DTURNS="${turns#*:}" \
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

arm64_fetch "$root" linux-image-cloud-arm64 busybox-static
build
pack
