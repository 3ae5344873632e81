#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# assay init: a repository of one's own, from nothing to a gate, with an installed program.
load helpers
load gate_helpers

setup_file() {
	install_assay "in stalled"
}

setup() {
	begin
	mkdir mine && cd mine || return 1
	git init -q -b main
}

@test "what is written compiles without a warning, is right, and is all that its manifest demands" {
	run --separate-stderr assay init
	[ "$status" = 0 ] && [ -z "$stderr" ]
	git add .
	[ "$(git ls-files | tr '\n' ' ')" = ".github/workflows/assay.yml .gitignore .gitlab-ci.yml Makefile assay.conf baselines/policy.conf \
baselines/quick.manifest bench/mine.bench bench/suites/all.suite bench/suites/quick.suite mine.c " ]
	grep -q "simple, and right as it is" <<<"$output"
	# the three commands that it prints, without what explains them
	mapfile -t next < <(sed -n 's/^  \([^ ].*\)/\1/p' <<<"$output")
	[ "${#next[@]}" = 3 ]
	small_shapes
	CFLAGS="-O3 -Wall -Wextra -Werror" eval "${next[0]}" >out 2>&1 || { cat out; return 1; }
	grep -q '1 ok in' out
	assay list --manifest | cmp - baselines/quick.manifest
	[ "$(grep -v '^#' baselines/quick.manifest)" = "required quantize.q8_0/mine/n=4096/t=1/warm" ]
	ASSAY_DETERMINISTIC=1 eval "${next[1]}" >out
	grep -q '^  mine .* ok ' out
	grep -q '^  ref .* ok ' out
	# a bench of the program is not in the way, nor is its policy
	run -2 assay list cases --suite smoke
	[[ $output == *"unknown suite 'smoke', expected one of all, quick"* ]]
	assay certify --suite quick --gates 1 --trials 0 --budget 100ms >out
	grep -q 'case     quantize.q8_0/mine/n=4096/t=1/warm$' out
	# from below as well
	mkdir sub && cd sub
	[ "$(assay list cases)" = quantize.q8_0/mine/n=4096/t=1/warm ]
	# and what is thrown away is not committed
	cd .. && assay run --db assay.db >out
	rm -r out sub
	[ -z "$(git status --short | grep -v '^A')" ]
}

@test "runs carry the revision of the repository, however its plugins are loaded, and none where nothing is committed" {
	assay init >/dev/null
	small_shapes
	revision() {
		ASSAY_DETERMINISTIC=1 assay run --json "$@" | jq -r '.run.build | "\(.plugin_commit) \(.plugin_dirty)"'
	}
	make -s
	[ "$(revision)" = "null true" ]
	# the commit of the program would be taken for that of the kernel
	run -0 assay history /mine/ --json
	jq -e '.points | length == 1 and .[0].commit == null' <<<"$output"
	git add . && git -c user.name=a -c user.email=a@b commit -qm one
	head=$(git rev-parse HEAD)
	[ "$(revision)" = "$head false" ]
	[ "$(revision --build)" = "$head false" ]
	[ "$(revision -p build/mine.so)" = "$head false" ]
	mkdir sub
	[ "$(cd sub && revision --db ../assay.db)" = "$head false" ]
	echo '/* a remark */' >>mine.c
	[ "$(revision --build)" = "$head true" ]
	run -0 assay history /mine/ --json
	jq -e --arg head "$head" '[.points[].commit] == [null, $head, $head, $head, $head, $head]' <<<"$output"
	KEEP_DB=1 fails 2 "bad --revision: unknown revision 'nothing'" run --revision nothing
}

@test "any other op leaves its body to be written" {
	run --separate-stderr assay init --op matmul.f32 --json
	[ "$status" = 0 ] && [ -z "$stderr" ]
	jq -e '.schema == 1 and .op == "matmul.f32" and .variant == "mine" and (.right | not) and (.files | length == 11)' <<<"$output"
	jq -e '.files[0] == "mine.c" and .compile == "make" and (.gate | endswith("assay-gate"))' <<<"$output"
	grep -q 'TODO: write y\[i\]' mine.c
	make CFLAGS="-O3 -Wall -Wextra -Werror"
	run -3 assay verify --json
	jq -e '.cases | length == 1 and all(.status == "wrong")' <<<"$output"
}

@test "before the first build, and with a plugin that cannot be used, that is said" {
	assay init >/dev/null
	KEEP_DB=1 fails 2 "this repository has no plugin yet: build it with 'make'" run
	mkdir build
	echo 'not a plugin' >build/mine.so
	fails 2 "cannot use plugin: " run
	# removed sources leave no plugin behind
	mv mine.c other.c
	make >/dev/null
	[ "$(ls build)" = other.so ]
}

@test "nothing is overwritten, and nothing is left behind" {
	touch Makefile
	fails 2 "'Makefile' is there already, and nothing is overwritten" init
	ln -s nowhere .gitignore
	fails 2 "'Makefile', '.gitignore' are there already, and nothing is overwritten" init
	[ "$(ls -A | tr '\n' ' ')" = ".git .gitignore Makefile " ]
	rm Makefile .gitignore
	# found out when some of it is written
	touch .github
	fails 2 "cannot write '.github/workflows/assay.yml': " init
	[ "$(ls -A | tr '\n' ' ')" = ".git .github " ]
	# a folder that is there already is used, and stays
	rm .github
	mkdir bench
	touch .gitlab-ci.yml
	fails 2 "'.gitlab-ci.yml' is there already" init
	[ -d bench ] && [ ! -e bench/suites ]
	rm .gitlab-ci.yml
	assay init >/dev/null
	[ -e bench/suites/quick.suite ]
}

@test "a project with files of the same names gets a folder, and is told which lines its own files have to get" {
	mkdir bench
	printf 'all:\n\ttouch built\n' >Makefile
	echo theirs >bench/mine.bench
	echo '*.o' >.gitignore
	echo 'stages: [theirs]' >.gitlab-ci.yml
	git add . && git -c user.name=a -c user.email=a@b commit -qm theirs
	fails 2 "'bench/mine.bench', 'Makefile', '.gitignore', '.gitlab-ci.yml' are there already, and nothing is overwritten; --here puts" init
	run -0 assay init --here --json
	jq -e '.files[0] == "assay/mine.c" and .compile == "make -C assay"' <<<"$output"
	jq -e '.add == [{file: ".gitlab-ci.yml", line: "include: \u0027/assay/gitlab-ci.yml\u0027"}, {file: ".gitignore", line: "/assay.db*"},
		{file: ".gitignore", line: "/build/gate/"}]' <<<"$output"
	git diff --exit-code
	[ "$(git status --short | tr '\n' ' ')" = "?? .github/ ?? assay.conf ?? assay/ " ]
	sed -i 's/n=[0-9]*/n=4096/' assay/bench/mine.bench
	make -s -C assay CFLAGS="-O3 -Wall -Wextra -Werror"
	[ ! -e built ]
	run -0 assay verify
	[[ $output == *"1 ok in"* ]]
	[ "$(assay list cases)" = quantize.q8_0/mine/n=4096/t=1/warm ]
	run -0 assay run --build --json
	# a second time nothing is touched
	KEEP_DB=1 fails 2 "op 'quantize.q8_0' has a variant 'mine' already, in 'assay/build/mine.so'" init --here
	echo /assay.db* >>.gitignore
	git add . && git -c user.name=a -c user.email=a@b commit -qm two
	[ -z "$(git status --short)" ]
}

@test "a new op goes into the folders that are there, and their Makefile builds it" {
	for here in "" --here; do
		local dir=${here:+assay/}

		rm -rf ./* .git .github .git*
		git init -q -b main
		assay init $here >/dev/null
		run -0 assay new op norm.rms --json
		[ "$(jq -r '.files | join(" ")' <<<"$output")" = "${dir}norm_rms.c ${dir}bench/norm-rms.bench ${dir}bench/suites/norm-rms.suite" ]
		[ "$(jq -r '.add[] | .file + ": " + .line' <<<"$output")" = "${dir}bench/suites/quick.suite: use \"norm-rms\" { }" ]
		jq -e '.compile_installed == null' <<<"$output"
		eval "$(jq -r .compile <<<"$output")" >make.out
		eval "$(jq -r .verify <<<"$output")" >out
		grep -q '4 ok in\|2 ok in' out
		# and the line works
		sed -i '/use "mine"/i\    use "norm-rms" { }' "${dir}bench/suites/quick.suite"
		assay list cases | grep -q '^norm.rms/ref/'
		KEEP_DB=1 fails 2 "there is an op 'norm.rms' already" new op norm.rms
		# from below, and elsewhere where that is named
		mkdir sub
		(cd sub && assay new op norm.two >/dev/null && assay new op norm.three -o three.c >/dev/null && [ -e three-bench ])
		[ -e "${dir}norm_two.c" ] && [ -e "${dir}bench/norm-two.bench" ]
	done
}

@test "bad usage is one line" {
	fails 2 "unexpected argument 'quantize.q8_0': an op is named with --op" init quantize.q8_0
	fails 2 "unknown op 'quantize.q8': did you mean 'quantize.q8_0'?" init --op quantize.q8
	fails 2 "unknown op 'nothing_like_it': 'assay list ops' lists them" init --op nothing_like_it
	fails 2 "op 'generate.decode' has no variants of its own" init --op generate.decode
	[ "$(ls -A)" = .git ]
	mkdir sub && cd sub
	fails 2 "this folder is not the top of its repository, where assay.conf and workflows lie: go to '${PWD%/sub}'" init
	[ -z "$(ls -A)" ]
	mkdir ../../outside && cd ../../outside
	fails 2 "there is no git repository here: a gate compares commits, so begin with 'git init'" init
	mkdir ../bin
	ln -s "$(command -v env)" ../bin/env
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin" "$ASSAY" init
	[ "$status" = 2 ]
	[ "$stderr" = "assay: there is no git on this machine: install the package git" ]
	[ -z "$(ls -A)" ]
}

@test "ten commands from nothing to a red pull request for slower code, and a green one for a comment" {
	assay init >/dev/null && small_shapes
	git add . && git commit -q -m 'kernels, measured by assay'
	git checkout -q -b comment
	sed -i 's/ties away from zero/of two equally near, that away from zero/' mine.c
	git commit -q -a -m comment
	run --separate-stderr assay-gate
	[ "$status" = 0 ] || { echo "$output$stderr"; return 1; }
	jq -e '.verdict == "PASS"' build/gate/report.json
	git checkout -q -b slower main
	slower
	git commit -q -a -m slower
	run --separate-stderr assay-gate
	[ "$status" = 1 ] || { echo "$output$stderr"; return 1; }
	[[ $stderr == *"(the merge base with main)"* ]]
	jq -e '.verdict == "REGRESSED"' build/gate/report.json
	jq -e '[.cases[].key] | unique == ["quantize.q8_0/mine/n=4096/t=1/warm"]' build/gate/report.json
	grep -q REGRESSED build/gate/report.md
}

# A program whose time no load hides.
program() {
	printf '#!/bin/sh\nexec sleep %s\n' "$1" >work
	chmod +x work
}

@test "a program that is there is gated: a red and a green pull request" {
	program 0.01
	git add work && git commit -qm program
	run --separate-stderr assay init --program './work "a b"'
	[ "$status" = 0 ] && [ -z "$stderr" ]
	[[ $output == *'./work "a b" ran for '*" and exited with 0; what a gate measures:"$'\n  work/work/-/t=all/-\n'* ]]
	mapfile -t next < <(sed -n 's/^  \([ag][^ ]* .*\|assay-gate\)$/\1/p' <<<"$output")
	[ "${#next[@]}" = 3 ]
	assay list --manifest | cmp - assay/baselines/quick.manifest
	[ "$(grep -v '^#' assay/baselines/quick.manifest)" = "required work/work/-/t=all/-" ]
	grep -qF 'command = "./work \"a b\""' assay/bench/work.bench
	grep -q '^build     = "true"' assay.conf
	sed -i 's/"10s"/"5s"/; s/paired = "1%"/paired = "50%"/' assay/baselines/policy.conf
	eval "${next[0]}"
	[ -z "$(git status --short)" ]
	eval "${next[1]}" >out
	grep -q '^work .* work .* ms' out
	rm out
	git switch -qc slower
	program 0.1
	git commit -qam slower
	run -1 --separate-stderr assay-gate --profile no
	jq -e '.verdict == "REGRESSED" and any(.cases[]; .key | startswith("work/work/-/t="))' build/gate/report.json
	git switch -q main && git switch -qc same
	echo '# a remark' >>work
	git commit -qam remark
	run -0 --separate-stderr assay-gate
	jq -e '.exit == 0' build/gate/report.json
	[ -z "$(git status --short)" ]
	# files of their own get a line, jobs the command that builds the tree
	git switch -q main && git rm -qr assay assay.conf .github && rm -rf assay
	printf 'all:\n' >Makefile
	run -0 --separate-stderr assay init --program ./work --json
	jq -e '.schema == 1 and .program == "./work" and .cases == ["work/work/-/t=all/-"] and (.files | index(".gitignore") == null)
		and [.add[].file] == [".gitlab-ci.yml", ".gitignore", ".gitignore"] and .gate == "assay-gate"' <<<"$output"
	grep -q '^build     = "make"' assay.conf
	rm -rf assay assay.conf .github
	assay init --program ./work --build "echo 'it is' \"\$HOME\"" >/dev/null
	grep -qF "        run: 'echo ''it is'' \"\$HOME\"'" .github/workflows/assay.yml
	grep -qF "    - 'echo ''it is'' \"\$HOME\"'" assay/gitlab-ci.yml
	grep -qF 'build     = "echo '"'it is'"' \"$HOME\""' assay.conf
}

@test "each benchmark of a program that measures itself is a case" {
	cat >bench_all <<-'END'
		#!/bin/sh
		for a; do
			case $a in
			--benchmark_list_tests=true) printf 'BM_Copy/8\nBM_Copy/16\nBM_Sum\n' ;;
			--benchmark_out=*) out=${a#*=} ;;
			--benchmark_filter=*) name=$(echo "$a" | sed 's/.*=^//; s/\$$//') ;;
			esac
		done
		[ -z "$out" ] || printf '{"context": {}, "benchmarks": [{"name": "%s", "iterations": 1, "real_time": 5}]}' "$name" >"$out"
	END
	chmod +x bench_all
	run -0 --separate-stderr assay init --program ./bench_all --reads google-benchmark
	[[ $output == *"./bench_all reported its benchmarks; what a gate measures:"$'\n  bench_all/bench_all/BM_Copy,arg1=8/t=all/-\n'* ]]
	grep -q 'reads   = "google-benchmark"' assay/bench/bench_all.bench
	[ "$(grep -v '^#' assay/baselines/quick.manifest)" = "required bench_all/bench_all/BM_Copy,arg1={8,16}/t=all/-
required bench_all/bench_all/BM_Sum/t=all/-" ]
	assay list --manifest | cmp - assay/baselines/quick.manifest
	rm -rf assay assay.conf .git?*
	fails 2 "unknown format 'google-bench', did you mean 'google-benchmark'?" init --program ./bench_all --reads google-bench
	fails 2 "--reads is 'auto'" init --program ./bench_all --reads auto
	fails 2 "--reads is about a program" init --reads csv
	# it says nothing to options of another tool
	fails 2 "'./bench_all' reports no benchmarks as --reads hyperfine expects: './bench_all': it wrote no results of hyperfine" \
		init --program ./bench_all --reads hyperfine
	# many programs print something whatever they are asked for
	fails 2 "'echo hi' lists the benchmark 'hi --benchmark_list_tests=true', which it does not measure as --reads google-benchmark expects: 'echo': it wrote no results of google-benchmark" \
		init --program 'echo hi' --reads google-benchmark
	fails 2 "'echo hi' reports no benchmarks as --reads llama-bench expects: 'echo': it is not what llama-bench writes: its output:1:" \
		init --program 'echo hi' --reads llama-bench
	fails 2 "'false' reports no benchmarks as --reads criterion expects: 'false': exited with status 1" init --program false --reads criterion
	[ "$(ls -A | tr '\n' ' ')" = ".git bench_all " ]
}

@test "a program that cannot be measured gets no gate, and nothing is written" {
	program 0
	git add work
	fails 2 "cannot start './none': No such file or directory; it is run once, so build it first" init --program ./none
	fails 2 "'sh -c 'echo oh no >&2; exit 3'': exited with status 3: oh no" init --program "sh -c 'echo oh no >&2; exit 3'"
	fails 2 "--program: " init --program './work | cat'
	fails 2 "--program: a command is empty" init --program ''
	fails 2 "cannot stand in a bench file" init --program "./work '\${HOME}'"
	fails 2 "--op is about a kernel of your own" init --program ./work --op matmul.f32
	fails 2 "--build is about a program" init --build make
	touch assay.conf
	fails 2 "'assay.conf' is there already, and nothing is overwritten" init --program ./work
	rm assay.conf
	[ "$(ls -A | tr '\n' ' ')" = ".git work " ]
	# an op of one's own lies beside it
	assay init --program ./work >/dev/null
	run -0 assay new op norm.rms
	[[ $output == *"wrote norm_rms.c"* ]]
}
