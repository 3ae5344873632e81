# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Damages the database, and lets every command that reads it meet that, under sanitizers.

readers=(
	"show" "show --json" "show last" "show last --json" "show 1 * --samples"
	"show comparisons" "show last --json" "show last * --samples"
	"gate --allow-no-baseline" "gate --baseline main --json" "gate --evidence exact"
	"baseline list" "baseline show main" "compare --replay last" "compare --replay last --json"
	"plot trend dequantize -o trend.svg" "report -o page.html"
)

# write OFFSET BYTES: BYTES as printf takes them
write() {
	# shellcheck disable=SC2059
	printf "$2" | dd of="$try/assay.db" bs=1 seek="$1" conv=notrunc status=none
}

damage() {
	local size times i

	size=$(stat -c %s "$try/assay.db")
	draw 4
	case $drawn in
	0)
		draw "$size"
		truncate -s "$drawn" "$try/assay.db"
		what="cut to $drawn bytes"
		;;
	1)
		draw $((size / 4096))
		dd if=/dev/zero of="$try/assay.db" bs=4096 seek="$drawn" count=1 conv=notrunc status=none
		what="page $drawn cleared"
		;;
	*)
		draw 16
		times=$((drawn + 1))
		for ((i = 0; i < times; i++)); do
			draw "$size"
			at=$drawn
			draw 256
			write "$at" "$(printf '\\x%02x' "$drawn")"
		done
		what="$times bytes changed"
		;;
	esac
}

try_once() {
	local reader damaged

	damage
	damaged=$what
	cp "$try/assay.db" "$try/damaged.db"
	for reader in "${readers[@]}"; do
		cp "$try/damaged.db" "$try/assay.db"
		rm -f "$try"/assay.db-*
		what="database with $damaged, then 'assay $reader'"
		set -f
		# shellcheck disable=SC2086
		start "$programs/bin/assay" $reader --db assay.db
		set +f
		finish
	done
}
