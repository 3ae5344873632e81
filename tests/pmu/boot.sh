#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots the emulated machine that build_guest.sh made and unpacks what it found: boot.sh OUT on|off|native, with a PMU, without, or
# with that of a processor for which PAPI has native events alone. Found are OUT/on/NAME.{out,err,status}, see init. The instruction
# counter of the emulator is what makes the PMU count.
set -euo pipefail

out=$1 pmu=$2
console=$out/$pmu.console
case $pmu in
native) cpu=neoverse-n1,pmu=on ;;
*) cpu=cortex-a57,pmu=$pmu ;;
esac
timeout -k 5 400 qemu-system-aarch64 -M virt -cpu "$cpu" -m 1G -icount shift=0,sleep=off -display none \
	-monitor none -nic none -no-reboot -serial "file:$console" -kernel "$out"/root/boot/vmlinuz-* -initrd "$out/initrd" \
	-append "console=ttyAMA0 loglevel=1 panic=-1 -- $pmu"
rm -rf "${out:?}/$pmu"
mkdir "$out/$pmu"
if ! sed -n '/^BEGIN/,/^END/{//!p}' "$console" | base64 -di | tar xz -C "$out/$pmu"; then
	echo "the emulated machine did not send what it found; its console ends with:"
	tail -n 20 "$console"
	exit 1
fi
