#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Links in documents lead somewhere, and documents name only files that exist.
load helpers

# all_documents: those that are part of the tree.
all_documents() {
	(cd "$ASSAY_SOURCE" && find . \( -name .git -o -name build \) -prune -o -name '*.md' -print | sed 's|^\./||' | LC_ALL=C sort)
}

# The title of a section as links name it.
anchors() {
	sed -n '/^```/,/^```/!s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:] _-]//g; s/ /-/g'
}

@test "every link in a document leads somewhere" {
	local file target path anchor broken=''
	for file in $(all_documents); do
		while read -r target; do
			path=${target%%#*} anchor=
			[[ $target != *#* ]] || anchor=${target#*#}
			path=${path:+$(dirname "$ASSAY_SOURCE/$file")/$path}
			path=${path:-$ASSAY_SOURCE/$file}
			if [ ! -e "$path" ] || { [ -n "$anchor" ] && ! anchors "$path" | grep -qxF -- "$anchor"; }; then
				broken+="$file: $target"$'\n'
			fi
		done < <(grep -o '](\([^)]*\))' "$ASSAY_SOURCE/$file" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:')
	done
	printf '%s' "$broken"
	[ -z "$broken" ]
}

# A name in backticks with a known ending is a file: of the tree, beside the document, in a layer, or of that name anywhere.
# A name in braces or angle brackets, or with a star, is a pattern for several.
@test "every file that a document names exists" {
	local file name known lost=''
	known=$(cd "$ASSAY_SOURCE" && find . \( -name .git -o -name build \) -prune -o -type f -print | sed 's|.*/||' | LC_ALL=C sort -u)
	for file in $(all_documents); do
		while read -r name; do
			case $name in
			# written by the program, by a user, or by make
			assay.db | report.md | report.json | junit.xml | trend.svg | mine.c | mine.so) continue ;;
			build/* | lib/assay/* | .github/* | .gitlab-ci.yml | assay.conf) continue ;;
			# endings, and names to be filled in
			_* | .* | *NAME* | *NNN* | *SUITE* | *FILE*) continue ;;
			esac
			case $name in
			*/*)
				[ -e "$ASSAY_SOURCE/$name" ] || [ -e "$(dirname "$ASSAY_SOURCE/$file")/$name" ] ||
					[ -e "$ASSAY_SOURCE/harness/$name" ] || [ -e "$ASSAY_SOURCE/harness/include/$name" ]
				;;
			*) grep -qxF -- "$name" <<<"$known" ;;
			esac || lost+="$file: $name"$'\n'
		done < <(sed '/^```/,/^```/d' "$ASSAY_SOURCE/$file" | grep -o '`[^` ]*`' | tr -d '`' |
			grep -E '\.(c|h|sh|md|sql|bats|conf|group|bench|suite|manifest|yml|awk|so|db|json|xml|svg)$' | grep -v '[*<{]')
	done
	printf '%s' "$lost"
	[ -z "$lost" ]
}
