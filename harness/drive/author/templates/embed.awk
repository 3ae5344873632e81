# SPDX-License-Identifier: Apache-2.0
# Turns files into table entries { "NAME", "text" }; of NAME.in the ending is left out.

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.in$/, "", name)
	printf "%s{ \"%s\",\n", (count++ ? "},\n" : ""), name
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	gsub(/[?]/, "\\?") # no trigraphs
	printf "  \"%s\\n\"\n", $0
}
END {
	print "},"
}
