#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the header that says what a build was made from: build_info.sh VERSION COMPILER FLAGS. An archive of `make dist` has
# its commit in a file; else, outside git, the commit is empty.
set -u

quote() {
	printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g' | cut -c1-500)"
}

commit=$(git rev-parse HEAD 2>/dev/null)
dirty=0
if [ -e .version ]; then
	commit=$(cut -d' ' -f2 .version)
elif [ -n "$commit" ] && [ -n "$(git status --porcelain 2>/dev/null | head -n 1)" ]; then
	dirty=1
fi

cat <<END
/* Written by make. */
#define ASSAY_BUILD_VERSION $(quote "$1")
#define ASSAY_BUILD_COMMIT $(quote "$commit")
#define ASSAY_BUILD_DIRTY $dirty
#define ASSAY_BUILD_COMPILER $(quote "$("$2" --version 2>/dev/null | head -n 1 | cut -c1-120)")
#define ASSAY_BUILD_FLAGS $(quote "$3")
END
