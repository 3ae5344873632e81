#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks which folder includes which, who may see third-party headers, that no files of a folder include each other in a circle,
# and that no folder grows beyond its budget of lines: check_layers.sh [ROOT]. Prints one line a violation.
set -eu

cd "${1:-$(dirname "$0")/..}"

files=$(find harness reports bench kernels \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cpp' \) | LC_ALL=C sort)

# shellcheck disable=SC2086
awk '
# Folder → own project folders it may include, third-party headers it may include (libc is free for all).
BEGIN {
	may["harness/include/assay"] = ""
	may["harness/base"] = "base";          third["harness/base"] = "xxhash.h jansson.h confuse.h"
	may["harness/gguf"] = "gguf assay"
	may["harness/model"] = "base stats model assay"
	may["harness/stats"] = "base stats assay"
	may["harness/machine"] = "base model machine assay"; third["harness/machine"] = "hwloc.h hwloc/"
	may["harness/counters"] = "base model machine counters assay"; third["harness/counters"] = "papi.h sde_lib.h valgrind/callgrind.h Zydis/Zydis.h"
	may["harness/profile"] = "base model machine counters profile assay"; third["harness/profile"] = "dwarf.h elfutils/"
	may["harness/formats"] = "base model formats assay"; third["harness/formats"] = "jansson.h"
	may["harness/plan"] = "base model plan assay"
	may["harness/worker"] = "base model machine counters profile worker assay"; third["harness/worker"] = "jansson.h"
	may["harness/measure"] = "base model stats machine counters profile formats plan worker measure assay"
	may["harness/store"] = "base model store assay"; third["harness/store"] = "sqlite3.h"
	may["harness/judge"] = "base model stats judge assay"; third["harness/judge"] = "jansson.h"
	may["harness/drive"] = "base model stats machine counters profile formats plan worker measure store judge drive gguf assay"
	third["harness/drive"] = "jansson.h"
	may["harness/serve"] = "base model machine drive serve reports"; third["harness/serve"] = "jansson.h microhttpd.h"
	may["harness/cli"] = "base model drive serve cli reports assay"
	third["harness/cli"] = "argp.h"
	may["reports"] = "base model reports"; third["reports"] = "jansson.h"
	may["bench"] = "assay gguf kernels"
	may["kernels"] = "assay gguf"
	# everything that is neither libc, POSIX, Linux nor a compiler header must be named above
	n = split("alloca.h arm_neon.h arpa/inet.h assert.h cpuid.h ctype.h dirent.h dlfcn.h elf.h errno.h fcntl.h fenv.h float.h fnmatch.h " \
		"ftw.h glob.h immintrin.h inttypes.h langinfo.h libgen.h limits.h link.h locale.h malloc.h math.h netdb.h poll.h " \
		"pthread.h pwd.h regex.h sched.h semaphore.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h " \
		"stdnoreturn.h string.h strings.h termios.h time.h ucontext.h unistd.h unwind.h wchar.h x86intrin.h", list, " ")
	for (i = 1; i <= n; i++)
		free[list[i]] = 1
}
function layer(path,   l) {
	if (path ~ /^harness\/include\/assay\//) return "harness/include/assay"
	if (path ~ /^harness\//) { split(path, l, "/"); return "harness/" l[2] }
	sub(/\/.*/, "", path)
	return path
}
function bad(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what
	failed = 1
}
function has(list, word) {
	return index(" " list " ", " " word " ") > 0
}
FNR == 1 { here = layer(FILENAME); if (!(here in may)) bad("folder " here " is in no layer") }
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	name = $0
	sub(/^[^<"]*[<"]/, "", name)
	sub(/[>"].*/, "", name)
	angled = $0 ~ /include[ \t]*</
	folder = name
	if (!sub(/\/.*/, "", folder)) folder = ""
	if (angled) {
		if (free[name] || folder == "sys" || folder == "linux" || folder == "asm") next
		if (has(third[here], name) || (folder != "" && has(third[here], folder "/"))) next
		if (here == "kernels" && (FILENAME ~ /_openblas/ && name == "cblas.h" || FILENAME ~ /\.cu$/ || FILENAME ~ /^kernels\/cuda\// && name ~ /^cuda_/)) next
		if (FILENAME ~ /^bench\/peers\//) next
		bad("<" name "> may not be included by " here)
		next
	}
	# a name without a folder is a file beside this one, or one that make writes
	if (folder == "" || folder == "..") {
		# one op or bench may live in a folder of its own below bench/; what kernel families share lies beside their folders
		if (folder == ".." && !(FILENAME ~ /^(bench|kernels)\/[^\/]*\/[^\/]*$/ &&
					name !~ (here == "bench" ? "\\.\\./\\.\\." : "\\.\\./.*/")))
			bad("\"" name "\" climbs out of its folder")
		next
	}
	if (has(may[here], folder)) next
	if ((here == "bench" || here == "kernels") && FILENAME ~ "/" folder "/") next
	if (here == "bench" && system("test -e bench/" name) == 0) next
	bad("\"" name "\" may not be included by " here)
}
END { exit failed }
' $files

# A name.c and its name.h are one; whoever reads it never needs what includes it. Headers beside a file, in its folder's parent,
# or named by their folder; tsort says where these go round.
# shellcheck disable=SC2086
circles=$(awk '
BEGIN {
	for (i = 1; i < ARGC; i++)
		known[ARGV[i]] = 1
}
function module(path) { sub(/\.[^.\/]*$/, "", path); return path }
function folder(path) { sub(/\/?[^\/]*$/, "", path); return path }
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	name = part[2]
	at = folder(FILENAME) "/" name
	if (sub(/^\.\.\//, "", name)) at = folder(folder(FILENAME)) "/" name
	else if (!(at in known)) at = "harness/" name
	if (at in known && module(at) != module(FILENAME)) print module(FILENAME), module(at)
}
' $files | tsort 2>&1 >/dev/null | sed 's/^tsort: //; s/^-: //')
if [ -n "$circles" ]; then
	echo "$circles"
	exit 1
fi

# Lines that a folder may hold, documents included and pictures not: a tenth more than when they were counted. Raising one is a
# commit of its own that says why the folder needs more.
while read -r folder budget; do
	[ -d "$folder" ] || continue
	lines=$(find "$folder" -type f ! -name '*.png' -exec cat {} + | wc -l)
	[ "$lines" -le "$budget" ] || echo "$folder has $lines lines, its budget is $budget"
done <<'EOF' | grep . && exit 1
bench 13600
ci 2130
harness/base 4900
harness/cli 6900
harness/counters 14400
harness/drive 23200
harness/formats 2850
harness/gguf 3650
harness/include 2400
harness/judge 9800
harness/machine 5300
harness/measure 5800
harness/model 7000
harness/plan 2470
harness/profile 5090
harness/serve 4700
harness/stats 1850
harness/store 9350
harness/worker 14600
kernels 14800
reports 19600
tests/cli 12920
tests/examples 160
tests/fixtures 2670
tests/fuzz 1250
tests/golden 1290
tests/plugins 7060
tests/soak 820
tests/unit 40650
EOF
exit 0
