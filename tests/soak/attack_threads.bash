# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Kernels that work where nobody gave them a thread, beside up to four busy processes: each is found out, and no honest one is.

cheat_bench() {
	mkdir -p "$try/bench/suites"
	printf 'bench "scale" { op = "example.scale" shapes = {"n=4096"} budget = "600ms" }\n' >"$try/bench/scale.bench"
	printf 'suite "quick" { summary = "all" use "*" {} }\n' >"$try/bench/suites/quick.suite"
}

# blamed VARIANT: does what was printed say that processor time was used which the case does not have?
blamed() {
	jq -e --arg variant "$1" 'any(.cases[]; (.key | startswith("example.scale/\($variant)/")) and
		(.reason // "" | contains("own_threads = \"yes\" in its bench")))' "$try/out" >/dev/null 2>&1
}

try_once() {
	local cheats=(hidden away) cheat way i busy=()
	local -a load=(--no-default-plugins --plugin "$plugins/example_op.so" --bench-dir bench --json)

	draw ${#cheats[@]}
	cheat=${cheats[drawn]}
	draw 5
	for ((i = 0; i < drawn; i++)); do
		(cd / && exec sh -c 'while :; do :; done') &
		busy+=($!)
	done
	cheat_bench
	draw 2
	if [ "$cheat" = hidden ] && [ "$drawn" = 0 ]; then
		way="run --rounds 1 --plugin $plugins/cheat_threads.so"
	else
		way="compare $plugins/cheat_threads.so $plugins/cheat_threads.so --same-code --policy $work/wide.conf --budget 1s"
	fi
	what="'assay $way' of $cheat beside ${#busy[@]} busy processes"
	# shellcheck disable=SC2086
	start "$assay" $way "${load[@]}" --only "*/$cheat/*" --only '*/packs/*'
	finish
	if [ ${#busy[@]} != 0 ]; then
		kill "${busy[@]}"
		wait "${busy[@]}" 2>/dev/null
	fi
	blamed "$cheat" || failed "a kernel that works in secret passes"
	! blamed packs || failed "an honest kernel is blamed"
}
