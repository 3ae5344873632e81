# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# The hostile plugins of the tests, each through a command that loads plugins.

hostile=("$plugins"/*.so)

# One bench for each op that the plugins in "$@" bring, with the least value of what has no default.
benches() {
	mkdir -p "$try/bench/suites"
	ln -s "$source/bench/groups" "$try/bench/groups"
	printf 'suite "quick" { summary = "all" use "*" {} }\n' >"$try/bench/suites/quick.suite"
	"$assay" list ops "$@" --json 2>/dev/null | jq -r '.ops[] |
		([.axes[] | select(.default == null) | "\(.name)=\(.min)"] | join(",")) as $shape |
		"bench \"\(.name)\" { op = \"\(.name)\" budget = \"20ms\" timeout = \"5s\" " +
		(if $shape == "" then "}" else "shapes = {\"\($shape)\"} }" end)' >"$try/bench/all.bench" 2>/dev/null
}

# A plugin FAMILY_NAME.so may need the op of FAMILY_op.so, and be compared with FAMILY_base.so.
try_once() {
	local plugin=${hostile[seed % ${#hostile[@]}]} family ways base
	local -a load=(--no-default-plugins --plugin "$plugin")

	family=${plugin%_*} base=$plugin
	if [ -e "${family}_op.so" ] && [ "$plugin" != "${family}_op.so" ]; then
		load+=(--plugin "${family}_op.so")
	fi
	if [ -e "${family}_base.so" ]; then
		base=${family}_base.so
	fi
	benches "${load[@]}"
	ways=(
		"list --plugin $plugin"
		"verify ${load[*]} --bench-dir bench"
		"run ${load[*]} --bench-dir bench --counters heap,syscalls"
		"run --plugin $plugin --bench-dir $fixtures/bench --budget 20ms"
		"compare $base $plugin ${load[*]} --bench-dir bench --policy $work/wide.conf --budget 300ms --same-code"
	)
	draw ${#ways[@]}
	what="'assay ${ways[drawn]}'"
	# shellcheck disable=SC2086
	start "$assay" ${ways[drawn]}
	finish
	check_history
}
