# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Workers that processes of their own trace or hold stopped: the command ends, by itself or when it is asked to, and nothing is left.

variants=(traced stopped each_other)
mkdir -p "$work/traced/suites"
printf 'bench "x" { op = "example.scale" shapes = {"n=4096"} budget = "50ms" timeout = "3s" }\n' >"$work/traced/x.bench"
printf 'suite "quick" { use "x" { } }\n' >"$work/traced/suites/quick.suite"

try_once() {
	local load="--no-default-plugins --plugin $plugins/example_op.so --bench-dir $work/traced --threads 1" variant ways sent=''

	draw ${#variants[@]}
	variant=${variants[drawn]}
	ways=(
		"run $load --plugin $plugins/hostile_trace.so --only */$variant/* --only */ref/*"
		"compare $plugins/hostile_base.so $plugins/hostile_trace.so $load --only */$variant/* --budget 500ms --policy $work/wide.conf"
	)
	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	set -f
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]} --db assay.db
	set +f
	draw 2
	if [ "$drawn" = 1 ]; then
		draw 4000
		what="SIGINT after $drawn ms of $what"
		sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
		killed_status=130
		kill -INT "$pid" 2>/dev/null && sent=1
	fi
	soak_limit_s=60 finish
	[ -n "$sent" ] || [ "$status" = 4 ] || [ "$variant" = each_other ] || failed "ends with $status, and a case was not measured"
	check_processes
}
