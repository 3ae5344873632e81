#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of a source archive of `make dist`: deb.sh ARCHIVE FOLDER. The same archive gives the same bytes in
# whatever folder it is built. assay-cuda is among them where NVCC names nvcc. lintian's errors fail it, where lintian is found.
set -eu
cd "$(dirname "$0")/.."
archive=$(realpath "$1")
folder=$2

# Outside the tree, since a folder in it would be taken for a part of its git repository.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf "$archive"
cd "$work"/assay-*/
read -r version commit date maintainer <<<"$(cat .version)"

list() { sed 's/^/, /' | tr -d '\n'; }
cp -r ci/debian .
sed -i "s|@MAINTAINER@|$maintainer|; s|@BUILD_DEPENDS@|$(ci/deps.sh --names build | list)|
	s|@RECOMMENDS@|$(ci/deps.sh --names run | list)|
	s|@SUGGESTS@|$(ci/deps.sh --names test | grep '^lib.*[0-9]$' | list)|" debian/control
cat >debian/changelog <<END
assay ($version) unstable; urgency=medium

  * Built from $commit.

 -- $maintainer  $(date -R -u -d "@$date")
END
DEB_BUILD_PROFILES=${NVCC:+pkg.assay.cuda} dpkg-buildpackage --build=binary --no-sign >build.log 2>&1 || {
	tail -n 30 build.log >&2
	exit 1
}
cd - >/dev/null
mkdir -p "$folder"
rm -f "$folder"/*.deb
cp "$work"/assay*.deb "$folder"
if command -v lintian >/dev/null; then
	lintian --fail-on error "$folder"/assay*.deb
fi
ls "$folder"
