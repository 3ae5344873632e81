# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# SIGKILL for a process that counts, as the system sends where memory is short: its case is not measured, and nobody is interrupted.

# below PID: the processes that descend from it
below() {
	local child children

	read -ra children < <(cat /proc/"$1"/task/*/children 2>/dev/null | tr '\n' ' ')
	for child in "${children[@]}"; do
		echo "$child"
		below "$child"
	done
}

try_once() {
	local command="run --bench-dir $fixtures/exact --evidence exact" delay i found=()

	draw 3000
	delay=$drawn
	what="SIGKILL for a counting process after $delay ms of 'assay $command'"
	# shellcheck disable=SC2086
	start "$assay" $command
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	mapfile -t found < <(below "$pid")
	if [ ${#found[@]} != 0 ]; then
		draw ${#found[@]}
		kill -KILL "${found[drawn]}" 2>/dev/null
	fi
	finish
	[ "$status" != 130 ] || failed "calls it an interrupt"
	check_history
}
