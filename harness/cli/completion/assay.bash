# SPDX-License-Identifier: Apache-2.0
# Completion of `assay` in bash. The program says what may follow; bash splits words at '=' and ':' as well, so what stands before
# the last of these is taken off.
_assay() {
	local line=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]} words last value
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=("")
	last=${words[-1]}
	[[ $cur != [=:] ]] || cur=
	COMPREPLY=()
	while IFS=$'\t' read -r value _; do
		if [ "$value" = :files ]; then
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
		else
			COMPREPLY+=("${value#"${last%"$cur"}"}")
		fi
	done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _assay assay
