#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# db: merging, pruning, checking, exporting and importing databases, and what bad input gets.
load helpers

# made FILE [RUNS [CASES [SEED]]]: a database that is made up.
made() {
	"$ASSAY_BUILD/tests/make_database" "$@" >/dev/null
}

# field NAME: of the JSON in $output.
field() {
	jq -r ".$1" <<<"$output"
}

@test "db takes an action, its files and its options" {
	fails 2 "no action given" db
	fails 2 "unknown action 'join'" db join
	fails 2 "no file given: assay db merge OTHER.db..." db merge
	fails 2 "no file given: assay db export FILE" db export
	fails 2 "unexpected argument 'x'" db check x
	fails 2 "unexpected argument 'b'" db import a b
	fails 2 "nothing says what may go" db prune
	fails 2 "--dry-run is for 'assay db prune'" db check --dry-run
	fails 2 "--case is for 'assay db export'" db merge x --case y
	for bad in 0d 5x d 20000d 2026-02-30; do
		fails 2 "bad --older-than '$bad'" db prune --older-than "$bad"
	done
	fails 2 "--keep-runs" db prune --keep-runs 0
	fails 2 "no database 'assay.db'" db check
	fails 2 "no database 'assay.db'" db prune --keep-runs 1
	fails 2 "no database 'nope.db' to merge" db merge nope.db
	: >empty.db
	fails 2 "is empty" db check --db empty.db
	echo text >text.db
	fails 2 "not a database" db check --db text.db
	fails 2 "not a database" db merge text.db --db new.db
}

@test "a database of thousands of results is merged once, whichever way, and pruned" {
	made a.db 60 20 1
	made b.db 30 20 2
	cp a.db first.db
	"$ASSAY" db check --db a.db
	run --separate-stderr "$ASSAY" db merge b.db --db a.db --json
	[ "$status" = 0 ] && [ "$(field schema)" = 1 ] && [ "$(field runs_added)" = 30 ] && [ "$(field results_added)" = 600 ]
	# both have baselines of these names on machines of their own
	[ "$(field 'notes|length')" = 2 ] && [[ $(field 'notes[0]') == *"baseline 'first' of 'b.db' was left out"* ]]
	run --separate-stderr "$ASSAY" db merge b.db first.db --db a.db --json
	[ "$status" = 0 ] && [ "$(field results_added)" = 0 ] && [ "$(field known)" = 90 ]
	"$ASSAY" db check --db a.db
	export KEEP_DB=1
	fails 2 "is the database itself" db merge ./a.db --db a.db

	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --dry-run --json --db a.db
	[ "$status" = 0 ] && [ "$(field dry_run)" = true ] && [ "$(field kept_in_baselines)" = 1 ]
	gone=$(field runs_removed)
	[ "$gone" -gt 20 ] && [ "$("$ASSAY" show --db a.db --json | jq '.runs | length')" = 90 ]
	run --separate-stderr "$ASSAY" db prune --keep-runs 3 --json --db a.db
	[ "$status" = 0 ] && [ "$(field runs_removed)" = "$gone" ] && [ "$(field 'after_bytes < .before_bytes')" = true ]
	[ "$("$ASSAY" show --db a.db --json | jq '.runs | length')" = $((90 - gone)) ]
	"$ASSAY" db check --db a.db
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

@test "a database goes through a text file, all of it or a part" {
	made a.db 12 20
	"$ASSAY" db export all.jsonl --db a.db
	[ "$(head -1 all.jsonl | jq -r '.format, .schema')" = "$(printf 'assay database\n1')" ]
	"$ASSAY" db import all.jsonl --db b.db
	"$ASSAY" db export again.jsonl --db b.db
	[ "$(wc -l <all.jsonl)" = "$(wc -l <again.jsonl)" ]
	"$ASSAY" show 3 --json --db a.db >a.json
	"$ASSAY" show 3 --json --db b.db >b.json
	cmp a.json b.json
	run --separate-stderr "$ASSAY" db import all.jsonl --db b.db --json
	[ "$(field runs_added)" = 0 ] && [ "$(field known)" = 12 ]

	"$ASSAY" db export part.jsonl --db a.db --run last --case 'stream.copy/*'
	run --separate-stderr "$ASSAY" db import part.jsonl --db c.db --json
	[ "$(field runs_added)" = 1 ] && [ "$(field results_added)" = 4 ]
	# a part of what is there is nothing new, and the whole completes a part
	run --separate-stderr "$ASSAY" db import part.jsonl --db a.db --json
	[ "$(field known)" = 1 ] && [ "$(field results_added)" = 0 ]
	run --separate-stderr "$ASSAY" db merge a.db --db c.db --json
	[ "$(field completed)" = 1 ] && [ "$(field runs_added)" = 11 ]
	"$ASSAY" db check --db c.db

	export KEEP_DB=1
	fails 2 "no run 99 is stored" db export x.jsonl --run 99 --db a.db
	fails 2 "no stored case matches 'zzz'" db export x.jsonl --case zzz --db a.db
	fails 2 "nothing that is stored was selected" db export x.jsonl --since 2400-01-01 --db a.db
	fails 2 "cannot write 'nowhere/x'" db export nowhere/x --db a.db
	fails 2 "not a regular file" db export . --db a.db
	[ ! -e x.jsonl ] && ! ls ./*.tmp
	fails 2 "cannot read 'none.jsonl'" db import none.jsonl --db d.db
	: >empty.jsonl
	fails 2 "it is empty" db import empty.jsonl --db d.db
	jq -c . a.json >other.jsonl
	fails 2 "it is no file of 'assay db export'" db import other.jsonl --db d.db
	sed '1s/"schema":1/"schema":2/' all.jsonl >bad.jsonl
	fails 2 "it has schema 2" db import bad.jsonl --db d.db
	sed '1s/"database":/"database":9/' all.jsonl >bad.jsonl
	fails 2 "use a newer assay" db import bad.jsonl --db d.db
	sed '5s/}}$/}/' all.jsonl >bad.jsonl
	fails 2 "cannot read 'bad.jsonl', line 5" db import bad.jsonl --db d.db
	sed '5s/^{"[a-z_]*"/{"sqlite_schema"/' all.jsonl >bad.jsonl
	fails 2 "line 5" db import bad.jsonl --db d.db
	grep -v '^{"bench_case"' all.jsonl >bad.jsonl
	fails 2 "it is not complete: a row of " db import bad.jsonl --db d.db
	[ ! -e d.db ]
}

@test "a check says what was changed, and nothing of it is merged" {
	command -v sqlite3 >/dev/null || skip "no sqlite3, which changes what is stored"
	made a.db 3 20
	sqlite3 a.db 'UPDATE result SET warmup_ns = warmup_ns + 1 WHERE run = 2 AND median_ns > 0'
	run --separate-stderr "$ASSAY" db check --db a.db --json
	[ "$status" = 2 ] && [ "$(field faults)" -gt 15 ]
	[[ $(field 'wrong[0]') == "result of 'matmul.ternary/ref/m=64,k=256/t=1/warm' in run 2 of database 'a.db' was changed"* ]]
	[[ $stderr == "assay: database 'a.db' has "*" faults: "* ]]
	export KEEP_DB=1
	fails 2 "in run 2 of database 'a.db' was changed" db merge a.db --db b.db
	[ "$("$ASSAY" show --db b.db --json | jq '.runs | length')" = 0 ]
}
