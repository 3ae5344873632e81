#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the man pages of the program from its help texts, with help2man: man_page.sh PROGRAM VERSION FOLDER. assay.1 is what
# `PROGRAM --help` says; each command that this lists has a page of its own, such as assay-compare.1. The folder is made; one that is
# newer than what it is made from stays as it is.
set -eu

program=$1
version=$2
folder=$3.tmp

if [ "$3" -nt "$program" ] && [ "$3" -nt "$0" ] && [ "$3" -nt "${0%/*}/gate.sh" ]; then
	exit
fi
rm -rf "$folder" "$3"
mkdir -p "$folder"

# Examples stay lines of their own, which help2man would fill into one paragraph; the note on short options stands in every text.
tidy='
/^\.SS "[Ee]xamples?:"$/ { print ".PP\n.B Examples\n.nf"; open = 1; next }
open && /^\.IP$/ { next }
open && /^\./ { print ".fi"; open = 0 }
/^Mandatory or optional arguments to long options/ { skip = 2 }
skip && skip-- { next }
{ print }
END { if (open) print ".fi" }
'

# page HELP-OPTION NAME DESCRIPTION [SEE-ALSO]: a help text as a page.
page() {
	text=$(help2man --no-info --section 1 --help-option "$1" --version-string "$version" --name "$3" "$program")
	printf '%s\n' "$text" | awk "$tidy" | sed "s/^\.TH ASSAY /.TH $(printf %s "$2" | tr '[:lower:]' '[:upper:]') /
		/^\.SH NAME$/ { n; s/^assay /$2 /; }"
	[ -z "${4:-}" ] || printf '.SH "SEE ALSO"\n%s\n' "$4"
}

"$program" --help | sed -n '/^example/q; s/^  \([a-z][a-z]*\)  *\(.*\)/\1 \2/p' >"$folder/commands.tmp"
page --help assay 'measure inference kernels, and say when they got slower or wrong' \
	"$(sed 's/ .*//; s/.*/.BR assay-& (1),/; $s/,$//' "$folder/commands.tmp")" >"$folder/assay.1"
while read -r command help; do
	page "$command --help-all" "assay-$command" "$help" '.BR assay (1)' >"$folder/assay-$command.1"
done <"$folder/commands.tmp"
# The script for CI is called assay-gate as well: one page has both.
{
	printf '.SH "ASSAY-GATE, THE SCRIPT FOR CI"\n.nf\n'
	sh "${0%/*}/gate.sh" --help | sed 's/\\/\\\\/g; s/-/\\-/g; s/^\./\\\&./'
	printf '.fi\n'
} >>"$folder/assay-gate.1"
rm -f "$folder/commands.tmp"
mv "$folder" "$3"
