#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Plugins that attack the harness cost their own cases and no others, in run and in compare.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir suites
	echo 'bench "hostile" { op = "example.scale" shapes = {"n=4096"} budget = "50ms" timeout = "60s" }' >hostile.bench
	echo 'suite "quick" { use "hostile" { } }' >suites/quick.suite
	: >plain.conf
	COMMON=(--no-default-plugins -p "$PLUGINS/example_op.so" --bench-dir . --threads 1)
}

# says VARIANT STATUS TEXT: in the JSON of the run that was printed
says() {
	jq -e --arg v "$1" --arg s "$2" --arg t "$3" \
		'.cases[] | select(.variant == $v) | .status == $s and ((.reason // "") | contains($t))' <<<"$output" >/dev/null ||
		{ printf 'not so: %s\n%s\n%s\n' "$*" "$output" "$stderr"; return 1; }
}

@test "a worker's answer that makes no sense costs its case of a comparison, and no other" {
	run -4 --separate-stderr "$ASSAY" compare "$PLUGINS/hostile_base.so" "$PLUGINS/hostile_page.so" --policy plain.conf \
		"${COMMON[@]}" --budget 2s --only '*/status/*' --only '*/n_counts/*' --only '*/samples/*' --only '*/forged/*' --json
	jq -e '[.cases[] | select(.verdict == "NOT_MEASURED" and (.reason | contains("makes no sense")))] | length >= 4' \
		<<<"$output"
}

@test "a variant that signals its parent cannot interrupt the run" {
	run --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_signal.so" --json
	[ "$status" = 0 ] || [ "$status" = 4 ]
	[ "$(jq '.cases | length' <<<"$output")" = 3 ]
	says ref ok ''
	# where the kernel does not keep the signal back, it is ignored and named
	if [ "$status" = 0 ]; then
		[[ $stderr == *"ignored a signal that process "*" sent, which runs a plugin"* ]]
	else
		says interrupt failed 'cannot signal its parent'
		says interrupt_child failed 'cannot signal its parent'
	fi
}

# In the simulator nothing keeps the signal back.
@test "a signal of a worker or of its child is ignored and named" {
	needs_counts
	for variant in interrupt interrupt_child; do
		run -0 --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_signal.so" --evidence exact \
			--only "*/$variant/*" --json
		[[ $stderr == *"ignored a signal that process "*" sent, which runs a plugin"* ]]
	done
}

# traced VARIANT TIMEOUT: the command that runs it beside an honest one, with that much time for a case
traced() {
	sed -i "s/timeout = \"[^\"]*\"/timeout = \"$2\"/" hostile.bench
	TRACED=(run "${COMMON[@]}" -p "$PLUGINS/hostile_trace.so" --only '*/ref/*' --only "*/$1/*" --json)
}


@test "a worker that its own child traces is ended and its case is named" {
	traced traced 60s
	run -4 --separate-stderr timeout -s KILL 120 "$ASSAY" "${TRACED[@]}"
	says ref ok ''
	says traced failed 'the worker cannot end because process '
	traced stopped 2s
	run -4 --separate-stderr timeout -s KILL 120 "$ASSAY" "${TRACED[@]}"
	says ref ok ''
	says stopped timeout 'no result after 2 s (while running)'
}

@test "processes that a worker left behind and that trace each other are ended" {
	traced each_other 60s
	run -0 --separate-stderr timeout -s KILL 120 "$ASSAY" "${TRACED[@]}"
	says ref ok ''
	says each_other ok ''
}

@test "an interrupt ends a run whose worker is held stopped by its own child, with all that it left" {
	local pid status=0 left
	traced stopped 60s
	"$ASSAY" "${TRACED[@]}" >out 2>err &
	pid=$!
	# the process that traces is below the worker, in a session of its own: the one that looks for leaks is not
	for _ in $(seq 1200); do
		left=$(cat /proc/[0-9]*/status 2>/dev/null | awk '/^Pid:/ { p = $2 } /^TracerPid:/ && $2 { print p, $2 }' |
			while read -r p t; do [ "$(awk '{ print $4 }' "/proc/$p/stat")" = "$pid" ] &&
				[ "$(awk '{ print $6 }' "/proc/$t/stat")" = "$t" ] && echo "$t"; done) || true
		[ -z "$left" ] || break
		sleep 0.1
	done
	[ -n "$left" ]
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" = 130 ] || { cat err; false; }
	[[ $(tail -n 1 err) == "assay: interrupted in '"*"/t=1/"*"' (while "*")"* ]] || { cat err; false; }
	[ ! -e "/proc/$left" ]
}

@test "limits of the program that a worker changed are restored, and its case is named" {
	run -4 --separate-stderr "$ASSAY" run "${COMMON[@]}" -p "$PLUGINS/hostile_files.so" --only '*/ref/*' --only '*/limit_*/*' --json
	says limit_size failed 'its process changed RLIMIT_FSIZE of this program from '
	says limit_files failed 'its process changed RLIMIT_NOFILE of this program from '
	says limit_and_die crashed '; its process changed RLIMIT_NOFILE of this program from '
	says ref ok ''
	jq -e '.cases | length == 4' <<<"$output"
	"$ASSAY" show last --json | jq -e '.cases | length == 4'
	run -4 --separate-stderr "$ASSAY" compare "$PLUGINS/hostile_base.so" "$PLUGINS/hostile_files.so" --policy plain.conf \
		"${COMMON[@]}" --budget 1s --only '*/limit_files/*' --json
	jq -e '[.cases[] | select(.verdict == "NOT_MEASURED" and (.reason | contains("RLIMIT_NOFILE of this program from ")))] | length == 1' \
		<<<"$output"
}

# unreadable COMMAND...: it ends with 70, names the case that wrote over the database, and does not say that anything is stored
unreadable() {
	rm -f x.db*
	"$ASSAY" run "${COMMON[@]}" --db x.db >/dev/null 2>&1
	run -70 --separate-stderr "$ASSAY" "$@" --db x.db
	[[ $stderr == *"assay: what was stored in 'x.db' does not read back, "*"; the last case measured was '$last"* ]]
	[[ $output != *PASS* ]]
	[[ $output$stderr != *"stored as"* ]]
}

@test "a database that a worker wrote over is no success, and the case is named" {
	for variant in clear cut remove; do
		last=example.scale/$variant/
		unreadable run "${COMMON[@]}" -p "$PLUGINS/hostile_files.so" --only '*/ref/*' --only "*/$variant/*"
	done
	last='' # controls have a turn after it
	unreadable compare "$PLUGINS/hostile_base.so" "$PLUGINS/hostile_files.so" --policy plain.conf "${COMMON[@]}" --budget 1s \
		--only '*/clear/*'
	last=example.scale/clear/
	unreadable profile cpu example.scale/clear/n=4096/t=1/warm "${COMMON[@]:0:5}" -p "$PLUGINS/hostile_files.so" --for 300ms --name p
}

@test "counts that do not read back are no success" {
	needs_counts
	last=example.scale/clear/
	unreadable run --evidence exact "${COMMON[@]}" -p "$PLUGINS/hostile_files.so" --only '*/clear/*'
}
