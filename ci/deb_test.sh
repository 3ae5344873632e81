#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages in FOLDER on this machine, uses them, and removes them: deb_test.sh FOLDER. It is for a system of
# its own, such as that of ci/bare_root.sh. Ends with one line of sums.
set -u
folder=$(realpath "$1")
passed=0 failed=0

check() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s\n' "$name: failed" "$said" | tee -a "${FAILURES:-/dev/null}"
	fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{home,tmp,here}
stamp=$work/stamp

# used COMMAND: in an empty network, with folders of its own for all that it may write.
used() {
	(cd "$work/here" && HOME=$work/home XDG_CACHE_HOME=$work/home/.cache TMPDIR=$work/tmp unshare --net bash -ec "$1")
}

# Files outside these folders that are newer than the stamp, but for those of the system's own logs and package lists.
written() {
	find / -xdev -newer "$stamp" ! -type d ! -path "$work/*" ! -path '/proc/*' ! -path '/dev/*' ! -path '/sys/*' \
		! -path '/var/lib/apt/*' ! -path '/var/lib/dpkg/*' ! -path '/var/cache/*' ! -path '/var/log/*' ! -path '/tmp/tmp.*' \
		! -path '/etc/ld.so.cache' ! -path '/root/.gitconfig'
}

packages=$(for deb in "$folder"/*.deb; do dpkg-deb --field "$deb" Package; done | grep -v dbgsym)
# shellcheck disable=SC2086,SC2317
install_all() { (cd "$folder" && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y ./assay_*.deb ./assay-dev_*.deb); }
# shellcheck disable=SC2317
nothing_written() { [ -z "$(written)" ] || { written; false; }; }
# shellcheck disable=SC2086,SC2317
no_setuid() { ! dpkg -L $packages | grep -v '^/\.$' | xargs -d '\n' stat -c '%A %n' | grep '^-..[sS]\|^-.....[sS]'; }
# Kernels keep plain flags, for which counts are recorded; the rest is hardened.
# shellcheck disable=SC2317
hardened() {
	local file
	for file in /usr/bin/assay /usr/lib/assay/*.so; do
		readelf --wide --dynamic --dyn-syms "$file" >"$work/elf"
		if ! grep -q BIND_NOW "$work/elf" || ! grep -q __stack_chk_fail "$work/elf"; then
			echo "$file"
			return 1
		fi
	done
}
# shellcheck disable=SC2086,SC2317
purge() { DEBIAN_FRONTEND=noninteractive apt-get purge -qq -y $packages; }
# shellcheck disable=SC2317
nothing_left() { ! find /usr /etc /var/lib/assay -name '*assay*' 2>/dev/null | grep .; }

check 'the packages install' install_all
check 'nothing is setuid' no_setuid
check 'all but the kernels is hardened' hardened
touch "$stamp"
check 'a program is timed' used 'assay time --min-runs 5 true'
check 'a suite is measured' used 'assay run --suite smoke'
check 'a page is written' used 'assay report -o report.html && grep -q "</html>" report.html'
check 'a man page is there' test -e /usr/share/man/man1/assay-compare.1.gz
check 'zsh, as Debian has it, finds the completion' test -e /usr/share/zsh/vendor-completions/_assay
check 'a plugin is written, built and verified' used 'mkdir mine && cd mine && git init -q && assay init --op quantize.q8_0 && make && assay verify'
check 'a repository is gated without the network' used 'cd mine && git add . && git -c user.name=a -c user.email=a@b.c commit -qm a &&
	echo "// same" >>mine.c && assay compare HEAD --only "quantize.q8_0/mine/*"'
check 'files are written nowhere else' nothing_written
check 'the packages are purged' purge
check 'nothing of them is left' nothing_left
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
