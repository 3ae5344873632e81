#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Sides of a comparison that are git revisions, as the command line shows them; tests/unit/drive/revision.c has the details.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache GIT_CONFIG_GLOBAL=/dev/null ASSAY_SOURCE
	export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@localhost GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@localhost
	git init -q -b main repo
	cd repo || return 1
	cp "$ASSAY_SOURCE"/tests/plugins/example_op.c "$ASSAY_SOURCE"/tests/plugins/example_variant.c .
	cat >build.sh <<-'END'
		mkdir -p out
		for f in op variant; do
			${CC:-cc} -O2 -fPIC -shared "-I$ASSAY_SOURCE/harness/include" -o "out/$f.so" "example_$f.c" || exit
		done
	END
	printf 'build = "sh build.sh"\nplugins = "out"\n' >assay.conf
	echo out >.gitignore
	git add . && git commit -q -m one
	mkdir bench && printf 'bench "example" { op = "example.scale" shapes = {"n=1024"} }\n' >bench/example.bench
	mkdir bench/suites && printf 'suite "quick" { summary = "one op" use "*" {} }\n' >bench/suites/quick.suite
	git add bench && git commit -q -m two
}

compare() {
	ASSAY_DETERMINISTIC=1 "$ASSAY" compare --bench-dir bench "$@"
}

@test "outside a repository there are files and folders only" {
	cd ..
	GIT_CEILING_DIRECTORIES=$PWD fails 2 "there is no git repository here" compare --bench-dir repo/bench main
}

@test "a repository without assay.conf is told what to write" {
	rm assay.conf
	fails 2 'build = "make plugins"' compare --bench-dir bench main
}

@test "a tree with changes is compared with what is committed, and stays as it is" {
	echo '/* a remark */' >>example_variant.c
	git status --porcelain >../before
	cp .git/index ../index
	run --separate-stderr compare main --margin 50% --json --db ../assay.db
	if [ "$status" != 0 ]; then echo "$output$stderr"; fi
	[[ $output == *'"base": "main ('* ]]
	[[ $output == *'"head": "working tree ('*' with changes)"'* ]]
	[[ $output == *"same machine code"* ]]
	[[ $stderr == *"building main"* ]]
	cmp .git/index ../index
	git status --porcelain | cmp - ../before
	# built once: the policy is held against the cases of both sides, before anything is measured
	echo 'margin "nothing" { paired = "1%" }' >../bad.conf
	run -2 --separate-stderr compare main --policy ../bad.conf --db ../assay.db
	[[ $stderr == *"'nothing' selects no case"* ]]
	[[ $stderr != *"building main"* ]]
}

@test "a run of plugins of another repository has the commit and state of that" {
	sh build.sh
	select=(--no-default-plugins --plugin out/op.so --plugin out/variant.so --bench-dir bench --db ../r.db)
	head=$(git rev-parse HEAD)
	ASSAY_DETERMINISTIC=1 run -0 "$ASSAY" run "${select[@]}"
	[[ $output == *$'\nbuild     commit '"${head:0:12},"* && $output == *$'\nassay     '* ]]
	echo '/* a remark */' >>example_variant.c
	# found from the folder of the plugin, not from the current one
	cd ..
	ASSAY_DETERMINISTIC=1 run -0 "$ASSAY" run --no-default-plugins --plugin repo/out/op.so --plugin repo/out/variant.so --bench-dir repo/bench --db r.db --json
	jq -e --arg c "$head" '.run.build | .commit == $c and .dirty and .plugin_commit == $c and .program_commit != $c' <<<"$output"
	cd repo
	git tag v1.2 HEAD~1
	ASSAY_DETERMINISTIC=1 run -0 "$ASSAY" run "${select[@]}" --revision v1.2 --json
	jq -e --arg c "$(git rev-parse HEAD~1)" '.run.build | .commit == $c and (.dirty | not)' <<<"$output"
	run -0 "$ASSAY" show --db ../r.db
	tagged=$(git rev-parse --short=12 HEAD~1)
	[[ ${lines[0]} == *commit*ok* && ${lines[1]} == *" $tagged "* && ${lines[2]} == *" ${head:0:12}+ "* ]]
	run -0 "$ASSAY" show --json --db ../r.db
	jq -e --arg c "$head" '[.runs[].commit] | .[1:] == [$c, $c]' <<<"$output"
	run -0 --separate-stderr "$ASSAY" export csv 1 --db ../r.db
	[[ $output == *",$head,"* ]]
	run -0 --separate-stderr "$ASSAY" export openmetrics 1 --db ../r.db
	[[ $output == *"assay_run_build{commit=\"$head\""* ]]
	fails 2 "bad --revision: unknown revision 'v1.3'" run "${select[@]}" --revision v1.3
	fails 2 "bad --revision: unknown revision 'v1.3'" run "${select[@]}" --revision v1.3+
	fails 2 "--build builds the working tree" run "${select[@]}" --revision v1.2 --build
	fails 2 "only those of assay itself are loaded" run --bench-dir "$BENCH" --revision v1.2
	for bad in '' + -x 'a b' a..b; do
		fails 2 "bad revision '$bad'" run "${select[@]}" --revision "$bad"
	done
}

@test "sides of a comparison that are files carry the commit they lie in, or what is said" {
	sh build.sh
	head=$(git rev-parse HEAD)
	cp -r out ../elsewhere
	select=(--no-default-plugins --plugin out/op.so --bench-dir bench --db ../c.db --margin 50% --budget 300ms)
	GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR run --separate-stderr "$ASSAY" compare ../elsewhere/variant.so out/variant.so "${select[@]}" --json
	jq -e --arg c "$head" '.head_revision == {"commit": $c, "dirty": false} and .base_revision.commit == null and .head == "out/variant.so"' <<<"$output"
	# whoever is in no repository is believed; all others say what their repository has
	mkdir ../nowhere && cp out/op.so ../nowhere
	cp out/variant.so ../nowhere/head.so
	(
		cd ../nowhere
		GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR run --separate-stderr "$ASSAY" compare ../elsewhere/variant.so head.so \
			--no-default-plugins --plugin op.so --bench-dir ../repo/bench --db ../n.db --margin 50% --budget 300ms --revision v1..v2+ --json
		jq -e '.base_revision == {"commit": "v1", "dirty": false} and .head_revision == {"commit": "v2", "dirty": true}' <<<"$output"
	)
	fails 2 "bad --revision: unknown revision 'v1'" compare ../elsewhere/variant.so out/variant.so "${select[@]}" --revision v1..v2+
	git tag v1 HEAD~1 && git tag v2
	run --separate-stderr "$ASSAY" compare ../elsewhere/variant.so out/variant.so "${select[@]}" --revision v1..v2+ --json
	jq -e --arg v1 "$(git rev-parse v1)" --arg v2 "$head" '.base_revision == {"commit": $v1, "dirty": false}
		and .head_revision == {"commit": $v2, "dirty": true}' <<<"$output"
	run -0 "$ASSAY" show last --db ../c.db
	[[ $output == *$'\nhead     out/variant.so, built from '"${head:0:7}"$' with changes\nbase     ../elsewhere/variant.so, built from '"$(git rev-parse --short=7 v1)"$'\n'* ]]
	run -0 "$ASSAY" show last --db ../c.db --json
	jq -e --arg v1 "$(git rev-parse v1)" --arg v2 "$head" '.comparison | .base_revision == {"commit": $v1, "dirty": false}
		and .head_revision == {"commit": $v2, "dirty": true} and (.program | has("commit") and has("dirty"))' <<<"$output"
	fails 2 "--revision tells what plugin files were built from, and 'working tree' is built here" compare out/variant.so "${select[@]}" --revision v1
}

@test "a revision is built with its submodules, and where they are not there the error says so" {
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
	for lib in inner lib; do
		git init -q "../$lib"
		echo "#define ${lib^^} 1" >"../$lib/$lib.h"
		[ $lib = inner ] || git -C ../lib submodule --quiet add "$PWD/../inner" inner 2>/dev/null
		git -C "../$lib" add . && git -C "../$lib" commit -qm $lib
	done
	git submodule --quiet add "$PWD/../lib" lib 2>/dev/null
	git submodule --quiet update --init --recursive
	printf '#include "lib/lib.h"\n#include "lib/inner/inner.h"\n_Static_assert(LIB + INNER == 2, "both");\n' >>example_variant.c
	git add . && git commit -qm three
	# where they came from is no longer there: no network is needed
	mv ../lib ../lib.gone && mv ../inner ../inner.gone
	run --separate-stderr compare HEAD --margin 50% --json --db ../assay.db
	[[ $stderr == *"building HEAD"* ]] && [[ $output == *"same machine code"* ]]
	# a linked worktree has copies of its own
	mv ../lib.gone ../lib && mv ../inner.gone ../inner
	mv .git/modules ../modules
	git worktree add -q -b other ../linked && git -C ../linked submodule --quiet update --init --recursive
	(cd ../linked && XDG_CACHE_HOME=$PWD/../cache2 compare HEAD --margin 50% --json --db ../assay.db >../linked.json)
	grep -q "same machine code" ../linked.json
	mv ../modules .git/modules
	# a commit of a submodule in a submodule that nobody fetched
	git clone -q --recurse-submodules . ../partial
	git -C ../inner commit -qm newer --allow-empty
	git -C lib/inner fetch -q && git -C lib/inner checkout -q FETCH_HEAD && git -C lib commit -qam newer
	git commit -qam four
	commit=$(git -C ../inner rev-parse HEAD)
	git -C ../partial pull -q --recurse-submodules=no && git -C ../partial/lib fetch -q --recurse-submodules=no "$PWD/lib" HEAD
	cd ../partial
	run -2 --separate-stderr compare HEAD
	[[ ${stderr_lines[-1]} == *"revision 'HEAD': its submodule 'lib/inner' is to be at commit ${commit:0:12}, which is not here: 'git -C lib/inner fetch' gets it" ]]
	cd ../repo
	git clone -q . ../without && cd ../without
	run --separate-stderr compare HEAD --db ../assay.db
	[ "$status" = 2 ]
	[[ ${stderr_lines[-1]} == *"its submodule 'lib' is not checked out: 'git submodule update --init --recursive' gets it" ]]
}

@test "a build that writes over the other side's plugins is refused by name" {
	cp build.sh own.sh
	# shellcheck disable=SC2016
	printf 'for d in "$XDG_CACHE_HOME"/assay/*/*/out; do [ ! -d "$d" ] || cp out/variant.so "$d/variant.so"; done\n' >>build.sh
	sed -i 's/example.scale/&/; s/return 0;/return 0; \/* slower *\//' example_variant.c
	echo 'int another;' >>example_variant.c
	run --separate-stderr compare HEAD --margin 50% --db ../assay.db
	[ "$status" = 2 ]
	[[ ${stderr_lines[-1]} == "assay: the plugin '"*"/out/variant.so' of 'HEAD' was overwritten after it was built: "* ]]
	# what is left of it in the cache is not used again
	mv own.sh build.sh
	run --separate-stderr compare HEAD --margin 50% --db ../assay.db
	[ "$status" != 2 ] && [[ $stderr == *"building HEAD"* ]]
}

@test "a plugin that is overwritten while it is measured gives no verdict" {
	local pid status=0

	cp "$ASSAY_BUILD/tests/plugins/compare_base.so" base.so
	cp "$ASSAY_BUILD/tests/plugins/compare_base.so" head.so
	"$ASSAY" compare ./base.so ./head.so --no-default-plugins --plugin "$ASSAY_BUILD/tests/plugins/compare_op.so" \
		--bench-dir "$ASSAY_SOURCE/tests/fixtures/compare" --same-code --budget 2s --db ../o.db >../out 2>../err &
	pid=$!
	until [ -e ../o.db ] || ! kill -0 "$pid"; do sleep 0.05; done
	# as a linker does, which makes a new file
	(cat base.so && echo) >new.so
	mv new.so base.so
	wait "$pid" || status=$?
	[ "$status" = 2 ]
	[[ $(tail -n 1 ../err) == "assay: the plugin './base.so' of './base.so' was overwritten while it was measured: "* ]]
	[[ $(cat ../out) != *PASS* ]]
}

@test "both sides are loaded as they were built, whatever becomes of their checkouts meanwhile" {
	local pid status=0
	export TMPDIR=$BATS_TEST_TMPDIR

	compare HEAD --same-code --budget 1s --db ../assay.db >../out 2>../err &
	pid=$!
	until [ -e ../assay.db ] || ! kill -0 "$pid"; do sleep 0.05; done
	for plugin in out/*.so "$XDG_CACHE_HOME"/assay/*/*/out/*.so; do
		echo broken >"$plugin"
	done
	wait "$pid" || status=$?
	[ "$status" = 0 ] || [ "$status" = 5 ] || { cat ../err ../out; false; }
	[[ $(cat ../out) != *NOT_MEASURED* ]]
	! compgen -G "$TMPDIR/assay-plugins-*"
}

@test "a folder of plugins that a link leads out of the working tree is refused by name" {
	mkdir ../shared
	ln -s ../shared out
	run --separate-stderr compare HEAD --margin 50% --db ../assay.db
	[ "$status" = 2 ]
	[[ ${stderr_lines[-1]} == "assay: the plugin 'out/op.so' of 'working tree' lies outside its checkout, at '"*"/shared/op.so': "* ]]
}

@test "a folder of plugins that a committed link leads out of the checkout is refused by name" {
	mkdir ../shared
	rm .gitignore
	ln -s "$PWD/../shared" out
	git add . && git commit -qm link
	run --separate-stderr compare HEAD --margin 50% --db ../assay.db
	[ "$status" = 2 ]
	[[ ${stderr_lines[-1]} == "assay: the plugin 'out/op.so' of 'HEAD' lies outside its checkout, at '"*"/shared/op.so': "* ]]
}
