#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The ways to begin that the README shows, typed word for word in an empty folder with an installed program.
load helpers
load gate_helpers

setup_file() {
	install_assay
}

setup() {
	begin
	export HOME=$BATS_TEST_TMPDIR
	mkdir empty && cd empty || return 1
}

# commands_of SECTION: the lines of it that are typed, into commands.
commands_of() {
	mapfile -t commands < <(sed -n "/^### $1/,/^##/s/^    //p" "$ASSAY_SOURCE/README.md")
	[ "${#commands[@]}" -ge 2 ]
}

# type_line STATUS COMMAND
type_line() {
	run --separate-stderr bash -c "$2"
	[[ " $1 " == *" $status "* ]] || { echo "$2: $status" "$output" "$stderr"; return 1; }
}

@test "a program is timed" {
	commands_of 'A program'
	for command in "${commands[@]}"; do
		# the second is slower, and on a busy machine perhaps not shown to be
		[[ $command == "assay time"* ]] && type_line '0 1' "$command" || type_line 0 "$command"
	done
	[[ $output == *"gzip -6 -c numbers"* && $output != *PASS* && $output != *IMPROVED* ]]
}

@test "a kernel is begun, measured, gated, and shown to Prometheus" {
	commands_of 'A kernel'
	for command in "${commands[@]}"; do
		# why it is faster takes seconds, and is asked elsewhere
		[[ $command != "assay compare"* ]] || command=${command/HEAD/HEAD --profile no}
		type_line 0 "$command"
		# that it takes seconds is not what is tried
		[[ $command != "assay init"* ]] || small_shapes
	done
	for name in $(grep -o '`op_[a-z]*\.h`' "$ASSAY_SOURCE/README.md" | tr -d '`'); do
		[ -e "${ASSAY%/bin/assay}/include/assay/$name" ]
	done

	commands_of 'A gate in CI'
	for command in "${commands[@]}"; do
		case $command in
		# slower, and on a busy machine perhaps not shown to be
		assay-gate*) type_line '1 6' "${command/assay-gate/assay-gate --profile no}" ;;
		*) type_line 0 "$command" ;;
		esac
	done
	grep -q 'quantize.q8_0/mine' build/gate/report.md

	! grep -q 'no assay serve' "$ASSAY_BUILD/features" || return 0
	commands_of Prometheus
	[ "${commands[0]}" = "assay serve &" ]
	assay serve --listen 127.0.0.1:0 >served 3>&- &
	server=$!
	for _ in $(seq 600); do
		[ ! -s served ] || break
		sleep 0.1
	done
	address=$(sed 's|^http://||; s|/.*||' served)
	type_line 0 "${commands[1]/localhost:8080/"$address"}"
	kill "$server"
	grep -q 'case="quantize.q8_0/mine/n=4096/t=1/warm"' <<<"$output"
}
