# SPDX-License-Identifier: Apache-2.0
# Comparisons of known outcome: tests/plugins/compare_*.c, with a margin that a busy machine does not reach.
load helpers

PLUGINS=$ASSAY_BUILD/tests/plugins
SELECT="--no-default-plugins --plugin $PLUGINS/compare_op.so --bench-dir $ASSAY_SOURCE/tests/fixtures/compare"

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	wide_policy
}

wide_policy() {
	printf 'margin "*" { paired = "20%%" }\n' >wide.conf
}

# command NAME ARGUMENT...: with the plugin of the op and its bench
command_of() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	run --separate-stderr "$ASSAY" "$name" $SELECT "$@"
}

# compare BASE HEAD OPTION...: two of the plugins, by what follows compare_ in their names. What they differ by is known after a
# handful of pairs, and the budget is used on a busy machine alone. Why they differ is asked by profile.bats alone.
compare() {
	local base=$1 head=$2
	shift 2
	command_of compare "$PLUGINS/compare_$base.so" "$PLUGINS/compare_$head.so" --policy wide.conf --budget 20s --profile no "$@"
}

# refused TEXT ARGUMENT...: exit 2 before anything is measured
refused() {
	local text=$1
	shift
	# shellcheck disable=SC2086
	fails 2 "$text" compare $SELECT --budget 300ms "$@"
}

# is FILTER: of the JSON that was printed
is() {
	jq -e "$1" <<<"$output" >/dev/null || { printf 'not so: %s\n%s\n%s\n' "$1" "$output" "$stderr"; return 1; }
}
