#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What failed, in few lines, for the end of a log that may be cut in its middle:
#   failures.sh collect NAME OUTPUT STATUS   one block for each test that fails in the TAP of OUTPUT: "NAME: TEST", then what it said
#   failures.sh show FILE                    the collected blocks in 58 lines at most, so that `tail -n 60` shows them all
set -u

# A program that ends without a failed test has died: what a sanitizer said, or else the last lines, say why.
collect() {
	awk -v name="$1" -v status="$3" '
		/^not ok / && tolower($0) !~ /# skip/ {
			sub(/^not ok [0-9]* *(- )?/, "")
			print name ": " $0
			if (said != "")
				print "    " said
			said = ""
			failed = 1; within = 1
			next
		}
		/^(ok |not ok |1\.\.)/ { within = 0; said = "" }
		/^ERROR: / { said = $0 } # fail_msg() of cmocka says so on standard error, before the line of the test
		within { sub(/^# ?/, ""); print "    " $0 }
		!failed {
			if (/ERROR: [A-Za-z]*Sanitizer|runtime error: /)
				report = 1
			if (report)
				why[++n] = $0
			else
				last[++seen] = $0
		}
		END {
			if (failed)
				exit
			print name ": ended with status " status
			for (i = 1; i <= n; i++)
				print "    " why[i]
			for (i = seen > 15 ? seen - 14 : 1; !n && i <= seen; i++)
				print "    " last[i]
		}' "$2"
}

# Each test shows up to 15 lines of its output, or its share of the room, once each name has one.
show() {
	awk -v room=57 '
		/^[^ ]/ { name[++n] = $0; next }
		n { text[n, ++lines[n]] = substr($0, 1, 200) }
		END {
			if (!n)
				exit
			print "failed:"
			shown = n <= room ? n : room - 1
			share = n <= room ? int((room - n) / n) : 0
			if (share > 15)
				share = 15
			for (i = 1; i <= shown; i++) {
				print "  " name[i]
				for (j = 1; j <= lines[i] && j <= share; j++)
					print "  " text[i, j]
			}
			if (shown < n)
				print "  and " n - shown " more"
		}' "$1"
}

case ${1-} in
collect) collect "$2" "$3" "$4" ;;
show) show "$2" ;;
*)
	echo 'usage: failures.sh collect NAME OUTPUT STATUS | show FILE' >&2
	exit 2
	;;
esac
