#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes which libraries the programs and plugins below FOLDER are linked to, as a software bill of materials in SPDX 2.3's
# tag-value form: sbom.sh NAME VERSION FOLDER. The time in it is SOURCE_DATE_EPOCH, so that two builds write the same.
set -eu
name=$1 version=$2 folder=$3

cat <<END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: $name-$version
DocumentNamespace: urn:sbom:$name:$version
Creator: Tool: sbom.sh
Created: $(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)

PackageName: $name
SPDXID: SPDXRef-$name
PackageVersion: $version
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: Apache-2.0
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-$name

PackageName: uPlot
SPDXID: SPDXRef-uplot
PackageVersion: $(sed -n 's/.*uPlot[^0-9]*v*\([0-9][0-9.]*\).*/\1/p;q' harness/serve/web/uplot/uPlot.iife.min.js)
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageChecksum: SHA256: $(sha256sum harness/serve/web/uplot/uPlot.iife.min.js | cut -d' ' -f1)
PackageLicenseDeclared: MIT
Relationship: SPDXRef-$name CONTAINS SPDXRef-uplot
END

# Each file that is linked, with the package of Debian that it belongs to.
# shellcheck disable=SC2016
find "$folder" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec ldd {} + 2>/dev/null |
	sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | xargs -r realpath | sed 's/.*\(\/[^/]*\/\)/*\1/' |
	xargs -r dpkg-query --search 2>/dev/null | sed 's/: .*//' | sort -u |
	xargs -r dpkg-query --show --showformat='${source:Package}\t${Package}\t${Version}\n' |
	while read -r source package its_version; do
		cat <<-END

			PackageName: $package
			SPDXID: SPDXRef-$package
			PackageVersion: $its_version
			PackageSupplier: Organization: Debian
			PackageDownloadLocation: NOASSERTION
			PackageSourceInfo: built from the source package $source
			FilesAnalyzed: false
			ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/$package@$its_version
			Relationship: SPDXRef-$name DYNAMIC_LINK SPDXRef-$package
		END
	done
