# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Interrupts a command at some moment: it ends with 130, says so, and leaves no half file.

signals=(INT TERM HUP)

# The program has begun, or is gone: what comes before is the system's.
begun() {
	local mask

	while mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null) && [ -n "$mask" ]; do
		((16#${mask:8} & 2)) && return
	done
}

runs() {
	[[ $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == [!ZX] ]]
}

try_once() {
	local command signal delay sent='' left

	draw ${#commands[@]}
	command=${commands[drawn]}
	draw "${milliseconds[drawn]}"
	delay=$drawn
	draw ${#signals[@]}
	signal=${signals[drawn]}
	what="SIG$signal after $delay ms of 'assay $command'"

	# a soak below nohup ignores SIGHUP, and so would the program
	# shellcheck disable=SC2086
	start env --default-signal=HUP "$assay" $command
	begun "$pid"
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	# one that was about to end when the signal came is gone a little later
	kill "-$signal" "$pid" 2>/dev/null && sleep 0.01 && runs "$pid" && sent=1
	finish
	if [ "$status" = 130 ]; then
		[[ $(tail -n 1 "$try/err") == "assay: interrupted"* ]] || failed "does not say that it was interrupted"
	elif [ -n "$sent" ]; then
		failed "ends with $status, not as an interrupt does"
	fi
	left=$(find "$try" -name '*.tmp' | head -n 1)
	[ -z "$left" ] || failed "half a file is left: ${left#"$try"/}"
	check_history
}
