# SPDX-License-Identifier: Apache-2.0
# Turns NAME.in files into table entries { "NAME", "text" }.

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.in$/, "", name)
	printf "%s{ \"%s\",\n", (count++ ? "},\n" : ""), name
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	printf "  \"%s\\n\"\n", $0
}
END {
	print "},"
}
