#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes template, style and script of a page as entries of a C table: embed.sh FOLDER TEMPLATE.html... STYLE.css... SCRIPT.js... >page.h.
# Templates become one, and so do styles and scripts, in the order given. A digest is what a Content-Security-Policy names them by. FOLDER is
# scratch space.
set -eu

folder=$1
embed=$(dirname "$0")/../../../harness/drive/author/templates/embed.awk
shift

rm -rf "$folder"
mkdir -p "$folder"
for file; do
	cat "$file" >>"$folder/page.${file##*.}"
done
for file in page.css page.js; do
	sha256sum "$folder/$file" | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64 >"$folder/$file.sha256"
done
awk -f "$embed" "$folder/page.html" "$folder/page.css" "$folder/page.css.sha256" "$folder/page.js" "$folder/page.js.sha256"
