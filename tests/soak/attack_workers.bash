# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Ends a process that the program started, at some moment of a command.

signals=(KILL SEGV TERM)

try_once() {
	local command signal delay i children=()

	draw ${#commands[@]}
	command=${commands[drawn]}
	draw $((milliseconds[drawn] * 11 / 10))
	delay=$drawn
	draw ${#signals[@]}
	signal=${signals[drawn]}
	what="SIG$signal for a child after $delay ms of 'assay $command'"

	# shellcheck disable=SC2086
	start "$assay" $command
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	for ((i = 0; i < 100 && ${#children[@]} == 0; i++)); do
		read -ra children <"/proc/$pid/task/$pid/children"
		sleep 0.002
	done 2>/dev/null
	if [ ${#children[@]} != 0 ]; then
		draw ${#children[@]}
		kill "-$signal" "${children[drawn]}" 2>/dev/null
	fi
	finish
	check_history
}
