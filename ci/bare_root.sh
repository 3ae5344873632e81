#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a shell command in a clone of this repository on a bare Debian: bare_root.sh SUITE COMMAND, such as
#   ci/bare_root.sh trixie 'make bench'
# The root has what README asks for, git, make and gcc, and what the command installed there when it ran last. It is kept in
# ASSAY_ROOTS (~/.cache/assay/roots), one for each SUITE and list of packages: where ci/deps.sh changes, a new one is made, so that
# no package of an older list hides one that is missing. The command runs in namespaces of its own, where nothing of this machine is
# mounted but /sys, and that only to be read. Exit status: the command's, or 75 where no such root can be had; one line on standard
# error then says why. What the command appends to the file that FAILURES names arrives in the caller's.
set -u
cd "$(dirname "$0")/.." || exit 70

suite=$1 command=$2
roots=${ASSAY_ROOTS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/assay/roots}
packages=git,make,gcc,ca-certificates unstable=
[ "$suite" != sid ] || unstable=1
root=$roots/$suite-$({ echo "$packages" && cat ci/deps.sh; } | sha256sum | cut -c 1-12)

cannot() {
	echo "no bare Debian ($suite): $1" >&2
	exit 75
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap >/dev/null || cannot 'there is no mmdebstrap'
unshare --mount --pid --fork true 2>/dev/null || cannot 'this machine refuses namespaces of their own (unshare)'
mkdir -p "$roots" || cannot "'$roots' cannot be made"

# One at a time, since apt in one root serves one command.
exec 9>"$roots/$suite.lock"
flock -w "${ASSAY_ROOT_WAIT:-1800}" 9 || cannot 'another run has been using it for half an hour'

# A root has its name only when it is complete, and the older ones go when a newer one is there.
if [ ! -d "$root" ]; then
	rm -rf --one-file-system "$roots/$suite-making"
	echo "making a bare Debian ($suite) in '$root'" >&2
	# The lists of sid are valid for a week, which a mirror that is a snapshot of an earlier day does not keep.
	if ! said=$(mmdebstrap --quiet --variant=minbase ${unstable:+--aptopt='Acquire::Check-Valid-Until "false"'} \
		--include=$packages "$suite" "$roots/$suite-making" 2>&1 9>&-); then
		rm -rf --one-file-system "$roots/$suite-making"
		cannot "mmdebstrap failed: $(grep '^E: ' <<<"$said" | head -n 1)"
	fi
	for older in "$roots/$suite"-*/; do
		[ "$older" = "$roots/$suite-making/" ] || rm -rf --one-file-system "$older"
	done
	mv -T "$roots/$suite-making" "$root"
fi

# Changes that are not committed come along, except for files that git does not know.
rm -rf --one-file-system "$root/assay" "$root/failures"
git clone -q --no-hardlinks . "$root/assay" || exit 70
git diff --binary HEAD | git -C "$root/assay" apply --allow-empty || exit 70
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null

# Entered by pivot_root: inside, the rest of this machine cannot be reached by any path.
# shellcheck disable=SC2016
unshare --mount --pid --ipc --fork --kill-child --propagation private -- bash -euc '
	cd "$1"
	mount --bind . .
	cd "$1"
	mount --bind /sys sys
	mount -o remount,bind,ro sys
	mount -t proc proc proc
	mount -t tmpfs -o mode=755 dev dev
	for node in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
		mknod -m 666 "dev/${node% *}" c 1 "${node#* }"
	done
	mknod -m 666 dev/tty c 5 0
	ln -s /proc/self/fd dev/fd
	ln -s fd/0 dev/stdin
	ln -s fd/1 dev/stdout
	ln -s fd/2 dev/stderr
	mkdir -m 1777 dev/shm
	mount -t tmpfs shm dev/shm
	find tmp -xdev -mindepth 1 -delete
	pivot_root . .
	umount -l .
	if [ ! -e /filled ] && ! apt-get update -q -o APT::Update::Error-Mode=any >/dev/null 2>&1; then
		echo "no bare Debian: its package lists cannot be fetched" >&2
		exit 75
	fi
	cd /assay
	exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin FAILURES=/failures ${CI:+"CI=$CI"} bash -c "$2"
' bash "$root" "$command" </dev/null 9>&-
status=$?
[ "$status" != 0 ] || touch "$root/filled"
[ -z "${FAILURES-}" ] || [ ! -e "$root/failures" ] || cat "$root/failures" >>"$FAILURES"
exit "$status"
