# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Databases of somebody else, with triggers, views and tables of their own: nothing in them is carried out.


try_once() {
	local table readers db=$try/foreign.db

	what="no sqlite3 here"
	command -v sqlite3 >/dev/null || return 0
	cp "$try/assay.db" "$db"
	table=$(sqlite3 "$db" "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name" |
		awk -v n="$seed" '{ t[NR] = $1 } END { print t[n % NR + 1] }')
	draw 3
	case $drawn in
	0) sqlite3 "$db" "CREATE TABLE canary (x); CREATE TRIGGER bad AFTER INSERT ON \"$table\" BEGIN INSERT INTO canary VALUES (1); END" ;;
	1) sqlite3 "$db" "ALTER TABLE \"$table\" RENAME TO kept; CREATE VIEW \"$table\" AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT * FROM kept, c" ;;
	2) sqlite3 "$db" "CREATE TRIGGER bad BEFORE DELETE ON \"$table\" BEGIN SELECT RAISE(ABORT, 'never'); END" ;;
	esac 2>/dev/null
	readers=("show --db foreign.db" "show last --db foreign.db" "gate --allow-no-baseline --db foreign.db" "db merge foreign.db --db assay.db"
		"run --bench-dir $fixtures/bench --budget 20ms --db foreign.db")
	draw ${#readers[@]}
	what="'assay ${readers[drawn]}' with a foreign '$table'"
	# shellcheck disable=SC2086
	start "$assay" ${readers[drawn]}
	soak_limit_s=60 finish
	[ -z "$(sqlite3 "$db" 'SELECT * FROM canary' 2>/dev/null)" ] || failed "a trigger was carried out"
	check_history
}
