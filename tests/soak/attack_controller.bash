# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Ends the program at some moment of a command, by a signal that it can handle or by one that it cannot.

signals=(KILL KILL TERM INT HUP)
numbers=(9 9 15 2 1)

try_once() {
	local command signal delay

	draw ${#commands[@]}
	command=${commands[drawn]}
	draw $((milliseconds[drawn] * 11 / 10))
	delay=$drawn
	draw ${#signals[@]}
	signal=${signals[drawn]}
	# before the program handles a signal, it ends by it
	killed_status=$((128 + numbers[drawn]))
	what="SIG$signal after $delay ms of 'assay $command'"

	# shellcheck disable=SC2086
	start "$assay" $command
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	kill "-$signal" "$pid" 2>/dev/null
	finish
	check_processes
	check_history

	# what a killed program could not remove, the next one does
	if [ "$signal" = KILL ]; then
		what="a run after $what"
		# shellcheck disable=SC2086
		start "$assay" $command
		finish
	fi
}
