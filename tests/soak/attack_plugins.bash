# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# The hostile plugins of the tests, each through the commands that load plugins.

hostile=("$plugins"/*.so)

try_once() {
	local plugin=${hostile[seed % ${#hostile[@]}]}
	local ways=(
		"list --plugin $plugin"
		"verify $paired --plugin $plugin"
		"run --plugin $plugin --bench-dir $fixtures/bench --budget 20ms"
		"run $paired --plugin $plugin --budget 50ms"
		"compare $plugins/compare_base.so $plugin $paired --policy $work/wide.conf --budget 300ms"
	)

	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]}
	finish
	check_history
}
