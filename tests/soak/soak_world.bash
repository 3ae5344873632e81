# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# The world that all attacks share: a database with finished runs, the commands that are attacked, and what counts as a failure.

assay=$build/bin/assay
plugins=$build/tests/plugins
fixtures=$source/tests/fixtures

usage() {
	echo "soak: $1" >&2
	exit 2
}

# No command of an attack takes this long by itself, however busy the machine is.
: "${soak_limit_s:=120}"

# The commands that measure, judge or draw, each in a second or two.
paired="--no-default-plugins --plugin $plugins/compare_op.so --bench-dir $fixtures/compare"
commands=(
	"run --bench-dir $fixtures/bench"
	"compare $plugins/compare_base.so $plugins/compare_two.so $paired --policy $work/wide.conf --budget 1s"
	"certify --gates 1 --trials 1 --budget 300ms --policy $work/wide.conf"
	"gate --run 1 --manifest $work/small.manifest --allow-no-baseline --json-file gate.json"
)
if command -v valgrind >/dev/null; then
	commands+=(
		"run --bench-dir $fixtures/exact --evidence exact"
		"compare $plugins/compare_base.so $plugins/compare_two.so $paired --evidence exact --policy $work/counted.conf"
	)
fi
if command -v gnuplot >/dev/null; then
	commands+=("report -o page.html" "plot trend dequantize -o trend.svg")
fi

# draw N: a number below N in $drawn. Not by a command substitution, whose shell would draw the same number each time.
draw() {
	drawn=$(((RANDOM << 15 | RANDOM) % $1))
}

# The contents of the database $1: its runs and comparisons up to those of the world.
history() {
	"$assay" show --db "$1" --json | jq -c ".runs[] | select(.id <= ${runs:-1000000})" &&
		"$assay" show comparisons --db "$1" --json |
		jq -c ".comparisons[] | select(.id <= ${comparisons:-1000000})"
}

# Each command once, unharmed: the database that the attacks begin with, and how long the command takes.
world_make() {
	local command begin status

	printf 'margin "*" { paired = "20%%" }\n' >"$work/wide.conf"
	# so that even identical code is counted
	printf 'limit "*" { require = {"exact_instructions >= 1"} }\n' >"$work/counted.conf"
	"$assay" list --manifest --bench-dir "$fixtures/bench" >"$work/small.manifest" || return 1
	milliseconds=()
	# a trend takes two runs
	# shellcheck disable=SC2086
	(cd "$work" && "$assay" ${commands[0]} --db "$work/world.db" >/dev/null 2>&1)
	for command in "${commands[@]}"; do
		begin=$(date +%s%N)
		# shellcheck disable=SC2086
		(cd "$work" && ASSAY_DB="$work/world.db" "$assay" $command >"$work/said" 2>&1)
		status=$?
		milliseconds+=($((($(date +%s%N) - begin) / 1000000)))
		# a busy machine may give any verdict
		if [ "$status" -gt 6 ] || [ "$status" = 2 ]; then
			echo "soak: without any attack, 'assay $command' ends with $status:" >&2
			cat "$work/said" >&2
			return 1
		fi
	done
	"$assay" baseline save main --db "$work/world.db" >/dev/null || return 1
	runs=$("$assay" show --db "$work/world.db" --json | jq '.runs | length')
	comparisons=$("$assay" show comparisons --db "$work/world.db" --json | jq '.comparisons | length')
	history "$work/world.db" >"$work/history"
}

# ---- one try: a folder with the database, and a temporary folder that must be empty at the end ----

try_make() {
	try=$work/try
	rm -rf "$try"
	mkdir -p "$try/tmp"
	cp "$work/world.db" "$try/assay.db"
	export TMPDIR=$try/tmp XDG_CACHE_HOME=$try/cache
	what=
	unset ASSAY_DB ASSAY_SEED ASSAY_DETERMINISTIC ASSAY_THREADS ASSAY_BATCH_SIZE ASSAY_MEMORY_LIMIT
	# a sanitizer that finds something says so by a status that the program has no use for, and leaves signals alone
	export ASAN_OPTIONS=exitcode=99:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
}

# A line: what failed, what the try did ($what), and how to do it again, which follows from its seed.
failed() {
	local line="$kind: $1: $what; again: make soak KIND=$kind SEED=$seed TRIES=1"

	line=${line//$source\//}
	echo "${line//$'\n'/ }" >>"$work/$kind.failures"
}

# start COMMAND...: in the folder of the try; its process is $pid.
start() {
	: >"$try/err" # whoever is killed at once does not make it
	(cd "$try" && exec "$@") >"$try/out" 2>"$try/err" </dev/null &
	pid=$!
}

# Wait for the process that was started; its status in $status, and whether that is one it may have.
finish() {
	# whoever is killed need not be announced
	{
		if ! timeout "$soak_limit_s" tail --pid="$pid" -f /dev/null; then
			failed "hangs"
			kill -KILL "$pid"
		fi
		wait "$pid"
		status=$?
	} 2>/dev/null
	check_status
}

check_status() {
	case $status in
	0 | 1 | 2 | 3 | 4 | 5 | 6 | 130 | "${killed_status:-0}") ;;
	70) failed "internal error, $(head -n 1 "$try/err")" ;;
	*) failed "ends with $status" ;;
	esac
	if grep -aqE 'Sanitizer|runtime error:' "$try/err"; then
		failed "$(grep -aE -m 1 'Sanitizer|runtime error:' "$try/err")"
	fi
}

# Processes that still work in the folder of the try. They get a moment to end.
check_processes() {
	local left wait

	for wait in 0.05 0.2 1 3 0; do
		left=$(find /proc -maxdepth 2 -name cwd -lname "$try*" 2>/dev/null)
		[ -n "$left" ] || return
		sleep "$wait"
	done
	failed "processes are left: $(for p in $left; do tr '\0' ' ' <"${p%cwd}cmdline"; done)"
	for p in $left; do
		p=${p#/proc/}
		kill -KILL "${p%/cwd}"
	done
}

# The finished runs of the world are in the database as they were, and an interrupt leaves no run without a case and no
# comparison without a result.
check_history() {
	local db=$try/assay.db newest

	if ! history "$db" 2>"$try/err" | cmp -s - "$work/history"; then
		failed "a finished run is lost: $(head -n 1 "$try/err")"
	fi
	newest=$("$assay" show --db "$db" --json | jq '.runs[0].id')
	if [ "$status" = 130 ] && ! "$assay" show "r$newest" --db "$db" --json | jq -e '.cases | length > 0' >/dev/null; then
		failed "the newest run is empty"
	fi
	if [ "$status" = 130 ] && ! "$assay" show comparisons --db "$db" --json |
		jq -e '.comparisons[0] | (.pairs // 0) + (.counted // 0) > 0' >/dev/null; then
		failed "the newest comparison is empty"
	fi
}

check_temporary() {
	if [ -n "$(ls -A "$try/tmp")" ]; then
		failed "temporary files are left: $(ls -A "$try/tmp")"
	fi
}

try_end() {
	check_processes
	check_temporary
}
