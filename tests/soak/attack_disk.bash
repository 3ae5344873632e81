# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# Lets a disk run full under a command: a small tmpfs of its own, or where that is not allowed a limit of the size of files.

if unshare -Urm mount -t tmpfs none /mnt 2>/dev/null; then
	has_tmpfs=1
else
	has_tmpfs=0
fi

# In the folder of the try: on a disk of $1 KiB with the database, the pictures and the temporary files, run the rest.
on_small_disk='
	size=$1
	shift
	cd "$0" && mount -t tmpfs -o "size=${size}k" none tmp && cp assay.db tmp/ || exit 0
	mkdir tmp/tmp
	(cd tmp && TMPDIR=$PWD/tmp "$@")
	status=$?
	cp tmp/assay.db* .
	[ -z "$(ls -A tmp/tmp)" ] || touch tmp-is-not-empty
	exit $status'

try_once() {
	local command room world_kib

	draw ${#commands[@]}
	command=${commands[drawn]}
	world_kib=$((($(stat -c %s "$work/world.db") + 1023) / 1024))
	draw 400
	room=$drawn
	draw 2
	# shellcheck disable=SC2086
	if [ "$has_tmpfs" = 1 ] && [ "$drawn" = 0 ]; then
		what="$room KiB are free for 'assay $command'"
		start unshare -Urm bash -c "$on_small_disk" "$try" $((world_kib + room)) "$assay" $command
	else
		what="files may have $((world_kib + room)) KiB in 'assay $command'"
		start bash -c 'ulimit -f "$1"; shift; exec "$@"' - $((world_kib + room)) "$assay" $command
	fi
	finish
	[ ! -e "$try/tmp-is-not-empty" ] || failed "temporary files are left"
	check_history
}
