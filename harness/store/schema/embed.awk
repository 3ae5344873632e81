# SPDX-License-Identifier: Apache-2.0
# Turns NNN_name.sql files, in order and numbered from 001 without a gap, into entries { "NNN_name.sql", "text" }.

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	if (substr(file, 1, 3) + 0 != ++count) {
		printf "%s: number %03d expected\n", FILENAME, count > "/dev/stderr"
		exit failed = 1
	}
	printf "%s{ \"%s\",\n", (count > 1 ? "},\n" : ""), file
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	printf "  \"%s\\n\"\n", $0
}
END {
	if (failed)
		exit 1
	print "},"
}
