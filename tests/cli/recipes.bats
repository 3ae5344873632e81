#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Follow the instructions of harness/ARCHITECTURE.md for adding something.
load helpers

@test "make reads the flags of every instruction set" {
	table=$ASSAY_SOURCE/harness/include/assay/isa_table.h
	for arch in x86_64 aarch64; do
		flags=$(env -u MAKEFLAGS -u MAKELEVEL make -pn -C "$ASSAY_SOURCE" help ARCH=$arch | sed -n 's/^ISA_FLAGS := //p')
		[ "$(wc -w <<<"$flags")" = "$(grep -c "^ISA([a-z0-9]*, \"$arch\"" "$table")" ]
	done
	[[ $flags == *"dotprod=-march=armv8.2-a+dotprod" ]]
}

# copy_tree: the tree and what was built of it, in tree/.
copy_tree() {
	TREE_BUILD=tree/${ASSAY_BUILD#"$ASSAY_SOURCE"/}
	[ "$TREE_BUILD" != "tree/$ASSAY_BUILD" ] || skip "built outside of the tree"
	mkdir -p "$TREE_BUILD"
	(cd "$ASSAY_SOURCE" && cp -a --parents Makefile .ci ci harness reports bench kernels tests baselines "$OLDPWD/tree/")
	(
		cd "$ASSAY_BUILD" || return 1
		for part in bin gen lib obj plugins share tools features flags flags-cuda; do
			[ ! -e $part ] || cp -a $part "$OLDPWD/$TREE_BUILD/"
		done
	)
	cp -a tree before
	rm -r "before/${ASSAY_BUILD#"$ASSAY_SOURCE"/}"
	ASSAY=$PWD/$TREE_BUILD/bin/assay
}

make_tree() {
	env -u MAKEFLAGS -u MAKELEVEL ASSAY_NO_INSTALL=1 make -s -C tree BUILD="${ASSAY_BUILD#"$ASSAY_SOURCE"/}" "$@" 2>&1
}

# touched_only FAMILY FILE WHAT...: every file that differs now is one that the entries of ARCHITECTURE.md name.
touched_only() {
	local family=$1 file=$2 what changed word
	local named=()

	shift 2
	for what; do
		while read -r word; do
			word=${word//<family>/$family}
			named+=("${word//<file>/$file}")
		done < <(awk -v start="- **$what**:" 'index($0, start) == 1 { on = 1; print; next } /^- \*\*/ { on = 0 } on' tree/harness/ARCHITECTURE.md |
			grep -o '`[a-z]*/[^`]*`' | tr -d '`')
	done
	[ "${#named[@]}" -gt 0 ]
	while read -r changed; do
		for word in "${named[@]}"; do
			# shellcheck disable=SC2053
			[[ $changed == $word || $changed == $word* && $word == */ ]] && continue 2
		done
		echo "no entry of $* names $changed: ${named[*]}"
		return 1
	done < <(diff -rqN -x "$(cut -d/ -f2 <<<"$TREE_BUILD")" before tree | sed 's|^Files before/[^ ]* and tree/\(.*\) differ$|\1|')
}

@test "a variant, by the recipe" {
	copy_tree
	case $(uname -m) in
	x86_64) isa=avx2 on=ON_X86_64 macro=__AVX2__ ;;
	aarch64) isa=neon on=ON_AARCH64 macro=__ARM_NEON ;;
	*) skip "no instruction set of this architecture has a name" ;;
	esac
	cat >tree/kernels/matmul/matmul_recipe_$isa.c <<-END
		/* SPDX-License-Identifier: Apache-2.0 */
		/* matmul.f32, from the last token to the first. */
		#ifdef $macro
		#include "matmul_variants.h"

		static void recipe_rows(void *arg, uint32_t tid, uint32_t n_threads)
		{
			struct matmul_f32 p = matmul_f32_of(arg);
			int64_t first, end;

			matmul_rows(p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
			for (int64_t row = first; row < end; row++)
				for (int64_t t = p.n - 1; t >= 0; t--) {
					float sum = 0;

					for (int64_t i = 0; i < p.k; i++)
						sum += p.w[row * p.k + i] * p.x[t * p.k + i];
					p.y[t * p.m + row] = sum;
				}
		}

		int assay_matmul_f32_recipe(struct assay_job *job)
		{
			return matmul_run(job, recipe_rows);
		}
		#endif
	END
	sed -i '/^int assay_matmul_f32_blocked/a int assay_matmul_f32_recipe(struct assay_job *job);' tree/kernels/matmul/matmul_variants.h
	entry="{ .op = \"matmul.f32\", .name = \"recipe\", .help = \"backwards\", .needs = ASSAY_NEEDS($isa),"
	entry+=" .run = $on(assay_matmul_f32_recipe, kernel_of_other_arch) },"
	sed -i "/^static const struct assay_variant variants/a $entry" tree/kernels/matmul/matmul_plugin.c
	make_tree all
	make_tree manifests
	touched_only matmul matmul_recipe_$isa "a variant" "a variant for an instruction set"
	"$ASSAY" list --manifest --suite smoke | diff - tree/baselines/smoke.manifest
	"$ASSAY" list variants | grep '^matmul.f32/recipe '
	"$ASSAY" list variants | grep '^matmul.f32/recipe .*not here' && skip "this CPU has no $isa"
	"$ASSAY" verify --suite smoke --only '*/recipe/*' --json | jq -e '.cases | length > 0 and all(.status == "ok" and .correct)'
	"$ASSAY" run --suite smoke --only '*/recipe/*' --budget 1ms --json |
		jq -e '.cases | length > 0 and all(.status == "ok" and .counters.cpu_ops.value > 0)'
	# tests that go through variants find it; this one fails where its work is not counted
	sed -i 's/return matmul_run(job, recipe_rows);/job->host->parallel(job, recipe_rows, job); return 0;/' tree/kernels/matmul/matmul_recipe_$isa.c
	make_tree plugins
	run env ASSAY_TEST_PLUGINS="$PWD/$TREE_BUILD/plugins" "$ASSAY_BUILD/tests/test_kernels" work_counters
	[[ $output == *"matmul.f32/recipe/"* ]]
}
