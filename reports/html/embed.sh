#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes template, style and script of the page as entries of a C table: embed.sh FOLDER SCRIPT.js... >report_page.h. The scripts
# become one, in the order given. A digest is what a Content-Security-Policy names a style or script by. FOLDER is scratch space.
set -eu

folder=$1
here=$(dirname "$0")
shift

mkdir -p "$folder"
cp "$here/page.html" "$here/page.css" "$folder"
cat "$@" >"$folder/page.js"
for file in page.css page.js; do
	sha256sum "$folder/$file" | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64 >"$folder/$file.sha256"
done
awk -f "$here/../../harness/drive/templates/embed.awk" "$folder/page.html" "$folder/page.css" "$folder/page.css.sha256" \
	"$folder/page.js" "$folder/page.js.sha256"
