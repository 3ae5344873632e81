# SPDX-License-Identifier: Apache-2.0
# A program that is installed, and repositories whose kernels it gates.

# install_assay [NAME]: once for a file of tests, in this folder. What counts allocations takes no path with a blank.
install_assay() {
	install_build PREFIX="$BATS_FILE_TMPDIR/${1:-installed}" >/dev/null
}

# begin: an empty folder, the installed program in PATH, and nothing of who runs the tests.
begin() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset ASSAY_DB BASE SUITE STRICT SUSPECTS GATE_DIR CFLAGS CC GITHUB_BASE_REF GITHUB_STEP_SUMMARY CI_DEFAULT_BRANCH \
		CI_MERGE_REQUEST_IID CI_MERGE_REQUEST_DIFF_BASE_SHA CI_MERGE_REQUEST_TARGET_BRANCH_NAME MAKEFLAGS MAKELEVEL "${!GIT_@}"
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	ASSAY=$(echo "$BATS_FILE_TMPDIR"/*/bin/assay)
	export PATH="${ASSAY%/assay}:$PATH"
	# a bare name is the installed program
	unset -f assay
}

# small_shapes: a case of microseconds, which a comparison knows soon, with a margin that a busy machine can tell.
small_shapes() {
	sed -i 's/n=1048576/n=4096/' bench/mine.bench baselines/quick.manifest
	sed -i 's/paired = "1%"/paired = "5%"/' baselines/policy.conf
}

# slower: the same work, twice.
slower() {
	sed -i 's/^\tjob->host->parallel(job, work, job);/&&/' mine.c
}
