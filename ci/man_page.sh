#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the man page of the program from its help texts, with help2man: man_page.sh PROGRAM VERSION >assay.1. The commands are
# those that `PROGRAM --help` lists; each becomes a section of the page.
set -eu

program=$1
version=$2

# page HELP-OPTION: what help2man makes of one help text.
page() {
	help2man --no-info --section 1 --help-option "$1" --version-string "$version" \
		--name 'measure inference kernels, and say when they got slower or wrong' "$program"
}

# Examples stay lines of their own, which help2man would fill into one paragraph.
examples='
/^\.SS "[Ee]xamples?:"$/ { print ".PP\n.B Examples\n.nf"; open = 1; next }
open && /^\.IP$/ { next }
open && /^\./ { print ".fi"; open = 0 }
{ print }
END { if (open) print ".fi" }
'

text=$(page --help)
printf '%s\n' "$text" | awk "$examples"
"$program" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | while read -r command; do
	printf '.SH "ASSAY %s"\n' "$(printf '%s' "$command" | tr '[:lower:]' '[:upper:]')"
	# from the synopsis on, whose own heading is dropped; the note on short options stands in every help text
	text=$(page "$command --help-all")
	printf '%s\n' "$text" | awk "$examples" | awk '
		/^\.SH SYNOPSIS$/ { from = 1; next }
		!from { next }
		/^\.SH DESCRIPTION$/ { print ".PP"; next }
		/^Mandatory or optional arguments to long options/ { skip = 2 }
		skip && skip-- { next }
		{ print }'
done
