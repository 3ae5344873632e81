# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Workers that write over the database or change the limits of the program: never a success, and what can be kept is kept.

variants=(clear cut remove limit_size limit_files limit_and_die)
mkdir -p "$work/stored/suites"
printf 'bench "x" { op = "example.scale" shapes = {"n=4096"} budget = "50ms" }\n' >"$work/stored/x.bench"
printf 'suite "quick" { use "x" { } }\n' >"$work/stored/suites/quick.suite"

try_once() {
	local load="--no-default-plugins --plugin $plugins/example_op.so --bench-dir $work/stored --threads 1" variant ways

	draw ${#variants[@]}
	variant=${variants[drawn]}
	ways=(
		"run $load --plugin $plugins/hostile_files.so --only */$variant/* --only */ref/*"
		"compare $plugins/hostile_base.so $plugins/hostile_files.so $load --only */$variant/* --budget 500ms --policy $work/wide.conf"
	)
	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	cp "$try/assay.db" "$try/x.db"
	set -f
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]} --db x.db
	set +f
	case $variant in
	limit_*)
		finish
		[ "$status" = 4 ] || failed "ends with $status"
		mv "$try/x.db" "$try/assay.db"
		check_history
		;;
	*)
		killed_status=70
		wait "$pid"
		status=$?
		[ "$status" = 70 ] || failed "ends with $status"
		grep -q "the last case measured was '" "$try/err" || failed "names no case"
		;;
	esac
}
