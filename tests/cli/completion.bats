#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# completion: what the program offers for a word, and that each shell takes it.
load helpers

# offers WORD...: what stands behind 'assay' and may follow, without help texts.
offers() {
	"$ASSAY" __complete "$@" | cut -f1
}

@test "commands, options, values and arguments are offered as their tables have them" {
	[ "$(offers r)" = $'run\nreport' ]
	"$ASSAY" __complete ru | grep -qx $'run\tmeasure a suite and store the results'
	[ "$(offers "" | wc -l)" = "$(($("$ASSAY" --help | grep -c '^  [a-z]*  *[a-z]') - 1 + 2))" ]
	offers run -- | grep -qx -e --suite
	! offers run -- | grep -qx -e --cache-model
	[ "$(offers run --cache)" = --cache-model ]
	[ "$(offers gate --suspects "")" = $'fail\npass' ]
	[ "$(offers gate --suspects=f)" = --suspects=fail ]
	[ "$(offers gate --policy "")" = :files ]
	[ "$(offers profile "")" = $'cpu\nheap\nthreads\ntrace\ngpu\nall' ]
	[ "$(offers db m)" = merge ]
	[ "$(offers db merge "")" = :files ]
	[ "$(offers db merge a.db "")" = :files ]
	[ "$(offers run --bench-dir "$BENCH" --suite q)" = quick ]
	offers new variant "" | grep -qx quantize.q8_0
	[ -z "$(offers no-such-command "")" ] && [ -z "$(offers run --no-such-option=x)" ]
	[ ! -e assay.db ]
}

@test "what is stored is offered by its names, and revisions as git knows them" {
	ASSAY_DETERMINISTIC=1 assay run --bench-dir "$BENCH" >/dev/null
	assay baseline save golden >/dev/null
	[ "$(offers show la)" = last ]
	offers show "" | grep -qx r1
	offers show r1 quant | grep -q '^quantize.*/ref/'
	[ "$(offers show r1 quant | wc -l)" = "$(assay show last --json | jq '[.cases[].key | select(startswith("quant"))] | length')" ]
	[ "$(offers gate --baseline g)" = golden ]
	[ -z "$(offers gate --db other.db --baseline g)" ]
	git init -q -b trunk .
	git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
	git branch feature
	[ "$(offers compare f)" = $'feature\n:files' ]
}

@test "bash, zsh and fish complete a line" {
	local shell
	cat >complete.bash <<-'SH'
		source "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		read -ra COMP_WORDS <<<"${2//=/ = }"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_assay 2>/dev/null
		printf '%s\n' "${COMPREPLY[@]}"
	SH
	export PATH=$ASSAY_BUILD/bin:$PATH
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --suspects f')" = fail ]
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --suspects=f')" = fail ]
	touch policy.conf
	[ "$(bash complete.bash "$ASSAY_SOURCE/harness/cli/completion/assay.bash" 'assay gate --policy pol')" = policy.conf ]
	for shell in zsh fish; do
		command -v "$shell" >/dev/null || continue
		case $shell in
		zsh) zsh -n "$ASSAY_SOURCE/harness/cli/completion/_assay" ;;
		fish) [ "$(fish --no-config -c "source $ASSAY_SOURCE/harness/cli/completion/assay.fish; complete -C 'assay gate --suspects f'" | cut -f1)" = fail ] ;;
		esac
	done
}
