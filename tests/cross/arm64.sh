#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything for arm64 and runs the unit tests under qemu-user: arm64.sh OUT [TEST...]. A TEST is a folder of tests/unit;
# without one all run. OUT/root has Debian's packages for arm64, OUT/build the program. Ends with what failed and one line of
# sums. Exit status 77 with one line why where this cannot be tried.
#
# Programs start others, so the kernel has to know the emulator. It is told in namespaces of its own, where /proc/cpuinfo is
# replaced, too: qemu-user shows the host's. This machine's own settings are not touched, and root is not needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/cross/arm64.bash

out=$(realpath -m "$1")
shift
root=$out/root build=$out/build
arm64_needs qemu-aarch64 qemu-user
unshare --user --map-root-user --mount true 2>/dev/null ||
	arm64_cannot 'this machine refuses namespaces of their own (unshare --user)'
arm64_fetch "$root" libzydis-dev libdw-dev libmicrohttpd-dev libcmocka-dev
arm64_make "$root" "$build" ${WERROR:+WERROR="$WERROR"} all unit-tests

# What the emulated processor has, of what variants may need.
cat >"$out/cpuinfo" <<END
processor	: 0
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm asimddp
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x0
CPU part	: 0xd07
CPU revision	: 0

END
tests=("${@/#/$build/tests/test_}")
[ $# != 0 ] || tests=("$build"/tests/test_*)
# shellcheck disable=SC2016
BUILD=$build CPUINFO=$out/cpuinfo QEMU_LD_PREFIX=$root QEMU=$(command -v qemu-aarch64) \
	exec unshare --user --map-root-user --mount bash -euc '
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
		{ echo "this kernel has no binfmt_misc for namespaces of their own (Linux 6.7)"; exit 77; }
	magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
	mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
	printf %s ":arm64:M::$magic:$mask:$QEMU:F" >/proc/sys/fs/binfmt_misc/register
	mount --bind "$CPUINFO" /proc/cpuinfo
	ASSAY_TEST_QEMU=1 TESTS=none exec ci/run_tests.sh "$BUILD" "$@"' arm64 "${tests[@]}"
