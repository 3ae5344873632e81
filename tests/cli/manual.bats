#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The examples of all commands, as their help has them: each is right, or says what it lacks here.
load helpers

# A line for each command, and for each example of one.
commands() {
	"$ASSAY" --help | sed -n '/^example/q; s/^  \([a-z][a-z]*\)  *.*/\1/p'
}

examples() {
	"$ASSAY" "$1" --help-all | sed -n '/^examples\{0,1\}:$/,/^$/s/^  *//p'
}

# What an example may lack here that its reader has: files, programs, revisions, and what is stored.
LACKS='not a git repository|no such file|No such file|cannot (open|read|start|write|listen)|unknown revision|no git repository|no Slurm here|no GPU|'
LACKS+='exited with status|no (run|comparison|profiles?|results?|exact counts?|baseline)|a side is|no database|the file ends|'
LACKS+='no stored case matches|no case of run|has no codecs|not here|cannot run here|no case of the two|is neither a plugin|no file'

@test "every command has examples, and each is understood" {
	local command example folder n=0 wrong=''

	export PATH=$ASSAY_BUILD/bin:$PATH HOME=$PWD XDG_CACHE_HOME=$PWD/cache GIT_CEILING_DIRECTORIES=$PWD ASSAY_DETERMINISTIC=1
	seq 1000 >words
	assay run --bench-dir "$BENCH" >/dev/null
	while read -r command; do
		examples "$command" >examples
		[ -s examples ] || wrong+="assay $command has none"$'\n'
		while IFS= read -r example; do
			# nothing is written elsewhere, and no job is given to a cluster
			[[ $example != *'-o /'* ]] || continue
			[[ $command != fleet ]] || ! command -v sinfo >/dev/null || continue
			# what writes files begins in a folder of its own; one that measures, or serves, is understood by then
			folder=. n=$((n + 1))
			[[ $command != @(init|new) ]] || folder=$(mktemp -d "$PWD/own.XXXXXX")
			(cd "$folder" && exec timeout -k 5 2 bash -c "$example") </dev/null >out 2>err.$n || {
				case $? in
				1 | 3 | 4 | 5 | 6 | 124 | 137) continue ;;
				esac
				grep -qE "$LACKS" err.$n || wrong+="$example: $(grep '^assay: ' err.$n | tail -n 1)"$'\n'
			}
		done <examples
	done < <(commands)
	printf '%s' "$wrong"
	[ -z "$wrong" ]
}
