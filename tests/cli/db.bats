#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# db: merging and pruning databases, and what bad input gets.
load helpers

# made FILE [RUNS [CASES [SEED]]]: a database that is made up.
made() {
	"$ASSAY_BUILD/tests/make_database" "$@" >/dev/null
}

# whole FILE: nothing in it contradicts SQLite's rules.
whole() {
	! command -v sqlite3 >/dev/null || [ "$(sqlite3 "$1" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ]
}

# field NAME: of the JSON in $output.
field() {
	jq -r ".$1" <<<"$output"
}

@test "db takes an action, its files and its options" {
	fails 2 "no action given" db
	fails 2 "unknown action 'join': expected merge or prune; sqlite3 does the rest" db join
	fails 2 "unexpected argument 'x'" db prune x
	fails 2 "no file given: assay db merge OTHER.db..." db merge
	fails 2 "nothing says what may be removed" db prune
	fails 2 "--dry-run is for 'assay db prune'" db merge x --dry-run
	for bad in 0d 5x d 20000d 2026-02-30; do
		fails 2 "bad --older-than '$bad'" db prune --older-than "$bad"
	done
	fails 2 "--keep-runs" db prune --keep-runs 0
	fails 2 "no database 'assay.db'" db prune --keep-runs 1
	fails 2 "no database 'nope.db' to merge" db merge nope.db
	: >empty.db
	fails 2 "is empty" db prune --keep-runs 1 --db empty.db
	echo text >text.db
	fails 2 "not a database" db prune --keep-runs 1 --db text.db
	fails 2 "not a database" db merge text.db --db new.db
}

@test "a database of thousands of results is merged once, whichever way, and pruned" {
	made a.db 60 20 1
	made b.db 30 20 2
	cp a.db first.db
	whole a.db
	run --separate-stderr "$ASSAY" db merge b.db --db a.db --json
	[ "$status" = 0 ] && [ "$(field schema)" = 1 ] && [ "$(field runs_added)" = 30 ] && [ "$(field results_added)" = 600 ]
	# both have baselines of these names on machines of their own
	[ "$(field 'notes|length')" = 2 ] && [[ $(field 'notes[0]') == *"baseline 'first' of 'b.db' was left out"* ]]
	run --separate-stderr "$ASSAY" db merge b.db first.db --db a.db --json
	[ "$status" = 0 ] && [ "$(field results_added)" = 0 ] && [ "$(field known)" = 90 ]
	whole a.db
	export KEEP_DB=1
	fails 2 "is the database itself" db merge ./a.db --db a.db

	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --dry-run --json --db a.db
	[ "$status" = 0 ] && [ "$(field dry_run)" = true ] && [ "$(field kept_in_baselines)" = 1 ]
	gone=$(field runs_removed)
	[ "$gone" -gt 20 ] && [ "$("$ASSAY" show --db a.db --json | jq '.runs | length')" = 90 ]
	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --json --db a.db
	[ "$status" = 0 ] && [ "$(field runs_removed)" = "$gone" ] && [ "$(field 'after_bytes < .before_bytes')" = true ]
	[ "$("$ASSAY" show --db a.db --json | jq '.runs | length')" = $((90 - gone)) ]
	whole a.db
	# made runs began in 2023
	run --separate-stderr "$ASSAY" db prune --older-than 2020-01-01 --json --db a.db
	[ "$(field runs_removed)" = 0 ]
}

# changes, judged: what a history shows, and what a gate without a named baseline finds, of made runs.
changes() {
	"$ASSAY" history "$key" --machine 'made machine 0, 2 cores, 24 GiB' --json --db p.db |
		jq -c '[.changes[] | [.from_commit, .to_commit]]'
}
judged() {
	"$ASSAY" gate --suite quick --run 2399 --allow-no-baseline --json --db p.db | jq -c '.cases'
}

@test "pruning keeps what shows the changes and what a gate judges by" {
	key='matmul.ternary/ref/m=64,k=256/t=1/warm'
	# with ten runs on each side of its two changes none of them would be seen
	made p.db 2400 1 1
	changes >changes.json
	[ "$(jq length changes.json)" = 2 ]
	judged >judged.json
	[ "$(jq '.[0] | .verdict == "PASS" and .ratio > 0' judged.json)" = true ]
	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --json --db p.db
	[ "$status" = 0 ] && [ "$(field runs_kept)" -lt 600 ]
	[ "$(field kept_beside_changes)" -gt 40 ] && [ "$(field kept_for_gates)" -gt 100 ]
	cmp <(changes) changes.json
	cmp <(judged) judged.json
	# again nothing goes
	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --json --db p.db
	[ "$(field runs_removed)" -lt 100 ]
	cmp <(changes) changes.json
	cmp <(judged) judged.json
}
