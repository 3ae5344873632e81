#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# assay new: sources that compile as they are, are wrong until they are written, and right once they are.
load helpers

# written ARGUMENT...: `assay new` with --json, of which $output stays.
written() {
	run --separate-stderr "$ASSAY" new --json "$@"
	[ "$status" = 0 ] && [ -z "$stderr" ] || { printf '%s\n' "$output" "$stderr"; return 1; }
	new=$output
}

# do_it FIELD [OPTION...]: the command that was printed under this name, with this program as `assay`.
do_it() {
	local command
	command=$(jq -r ".$1" <<<"$new")
	shift
	run --separate-stderr eval "${command/#assay/\"$ASSAY\"} $*"
}

# compiled: by the line that was printed, and without a warning.
compiled() {
	do_it compile -Werror
	[ "$status" = 0 ] && [ -z "$output$stderr" ] || { printf '%s\n' "$output" "$stderr"; return 1; }
}

# all_are STATUS EXIT: of the cases that the command before printed as JSON, of which there must be some that this CPU can run.
all_are() {
	[ "$status" = "$2" ] && jq -e --arg s "$1" '[.cases[].status] - ["skipped"] | length > 0 and all(. == $s)' <<<"$output" ||
		{ printf '%s\n' "$status" "$output" "$stderr"; return 1; }
}

# body FILE: standard input in place of the loop's TODO; what comes before a line of dashes goes before work().
body() {
	cat >body.txt
	awk -v file=body.txt '
		BEGIN {
			while ((getline line < file) > 0)
				if (line == "----") { before = text; text = "" } else text = text line "\n"
		}
		/^\/\* What one thread does/ { printf "%s", before }
		/\/\* TODO: write .*i[\] ]/ { printf "%s", text; next }
		{ print }' "$1" >filled.c
	! cmp -s "$1" filled.c
	mv filled.c "$1"
}

@test "a new variant of any op compiles without a warning, loads, and is wrong on every shape" {
	local ops op suite options=()
	ops=$("$ASSAY" list ops --json | jq -r '.ops[] | select(.composes == null).name')
	[ "$(wc -l <<<"$ops")" -ge 19 ]
	for op in $ops; do
		written variant "$op" fresh -o "$op.c"
		[ "$(jq -r '.files | join(" ")' <<<"$new")" = "$op.c" ]
		do_it compile -Werror -Wpedantic
		[ "$status" = 0 ] && [ -z "$output$stderr" ]
		# the shape that the commands name is one that a suite has
		run -0 eval "\"$ASSAY\" list cases $(jq -r '.verify | ltrimstr("assay verify")' <<<"$new")"
		[[ ${lines[0]} == "$op/fresh/"* ]]
	done
	for op in $ops; do
		# one plugin name and one plugin a file: they are all loaded at once
		options+=(--plugin "./$op.so")
	done
	run --separate-stderr "$ASSAY" verify "${options[@]}" --suite smoke --threads 1 --only '*/fresh/*' --json
	all_are wrong 3
	jq '.cases' <<<"$output" >verified
	# some have a suite of their own; a codec whose library is missing has no inputs or no oracle
	"$ASSAY" model synth m.gguf --layers 1 --ffn 256
	for suite in codecs:'*compress.*/fresh/corpus=text*' tokenizers:'*/fresh/vocab=llama-bpe,corpus=text*' file:'*/fresh/*'; do
		ASSAY_MODEL=$PWD/m.gguf run --separate-stderr "$ASSAY" verify "${options[@]}" --suite "${suite%%:*}" --threads 1 \
			--only "${suite#*:}" --json
		all_are wrong 3
		jq '.cases' <<<"$output" >>verified
	done
	for op in $ops; do
		[ "$op" != stream.p2p ] || continue # between two GPUs: not in a suite of every machine
		jq -es --arg op "$op" '[add[] | select(.op == $op and .variant == "fresh").status] | length > 0
			and all(. == "wrong" or (. == "skipped" and ($op | contains("compress."))))' verified
	done
}

@test "axes, tensors and exactness are those of the op" {
	written variant quantize.i8_token mine
	grep -q '^ \*   dim .* floats of one token; 1 to 1048576$' mine.c
	grep -q '^#include <assay/op_quantize.h>' mine.c
	grep -q 'int8_t \*q = job->tensors\[ASSAY_QUANTIZE_Q\].data; *[/][*] \[tokens\]\[dim\] [*][/]' mine.c
	grep -q 'float \*scale = job->tensors\[ASSAY_QUANTIZE_SCALE\].data;' mine.c
	# rows of tokens are what threads share
	grep -q 'to = tokens \* (thread + 1) / n_threads;' mine.c
	grep -q '^ \* Exact: every variant writes the same bits' mine.c
	! grep -q '@\|dequantize\|i2_s' mine.c
	written variant matmul.f32 mine -o f32.c
	! grep -q 'Exact\|TERNARY' f32.c
	grep -q '^ \* The op computes the answer itself' f32.c
	! jq -r .compile <<<"$new" | grep -q ffp-contract
	written variant stream.read mine -o read.c
	grep -q '0 l1, 1 l2, 2 l3, 3 dram' read.c
	grep -q '^#include <assay/op_stream.h>' read.c
}

@test "matmul.ternary with its body written is right" {
	# warm alone: cold inputs are copied until they exceed the last-level cache, hundreds of times on a large one
	mkdir -p warm/suites
	printf 'bench "gemv" {\n op = "matmul.ternary"\n shapes = {"m=2560,k=2560,n=1"}\n threads = {"1"}\n}\n' >warm/gemv.bench
	printf 'suite "quick" {\n use "gemv" { }\n}\n' >warm/suites/quick.suite
	written variant matmul.ternary mine --bench-dir warm
	body mine.c <<-'END'
		const int64_t row = i % m, token = i / m;
		int32_t sum = 0;

		for (int64_t j = 0; j < k; j++) {
			const int64_t in = j % 128;
			const int code = w[row * (k / 4) + j / 128 * 32 + in % 32] >> (6 - 2 * (in / 32)) & 3;

			sum += (code - 1) * x[token * k + j];
		}
		y[i] = (float)sum * (w_scale[0] * x_scale[token]);
	END
	compiled
	do_it verify --json
	all_are ok 0
	run --separate-stderr "$ASSAY" verify --plugin ./mine.so --suite smoke --only 'matmul.ternary/mine/*' --json
	all_are ok 0
	# bit for bit as the others
	do_it run --evidence stored --budget 20ms --rounds 1 --json
	all_are ok 0
	jq -e '[.cases[] | select(.variant == "mine")] | length > 0' <<<"$output"
	jq -e '[.cases[] | select(.status == "ok").digest] | unique | length == 1' <<<"$output"
	# and the table has it, though it is not the best
	jq -r .run <<<"$new" | grep -q '^assay run -v '
	"$ASSAY" show last | grep -q '^  mine .* ok '
}

@test "quantize.q8_0 with its body written is right" {
	written variant quantize.q8_0 mine
	body mine.c <<-'END'
		#include <string.h>

		static uint32_t bits(float f)
		{
			uint32_t u;

			memcpy(&u, &f, sizeof(u));
			return u;
		}

		/* Of a number from 0 on, to nearest, ties to even. */
		static uint16_t half(float f)
		{
			uint32_t u = bits(f);

			if (f >= 65520.0f)
				return 0x7c00;
			if (f < 0x1p-14f)
				return (uint16_t)(bits(f + 0.5f) - 0x3f000000);
			return (uint16_t)((u + 0xfff + (u >> 13 & 1) - 0x38000000) >> 13);
		}

		----
		uint32_t most = 0;
		uint16_t scale;
		float amax, d, id;

		for (int j = 0; j < 32; j++)
			if ((bits(x[32 * i + j]) & 0x7fffffff) > most)
				most = bits(x[32 * i + j]) & 0x7fffffff;
		memcpy(&amax, &most, sizeof(amax));
		d = amax / 127;
		id = d > 0 && 1 / d <= 0x1.fffffep127f ? 1 / d : 0;
		scale = most >= 0x7f800000 ? 0x7e00 : half(d);
		memcpy(q + 34 * i, &scale, sizeof(scale));
		for (int j = 0; j < 32; j++) {
			const double v = most >= 0x7f800000 ? 0 : (double)(x[32 * i + j] * id);

			q[34 * i + 2 + j] = (uint8_t)(int8_t)(v < 0 ? v - 0.5 : v + 0.5);
		}
	END
	compiled
	do_it verify --json
	all_are ok 0
	run --separate-stderr "$ASSAY" verify --plugin ./mine.so --suite smoke --only 'quantize.q8_0/mine/*' --json
	all_are ok 0
	do_it run --evidence stored --budget 20ms --rounds 1 --json
	all_are ok 0
	jq -e '[.cases[] | select(.status == "ok").digest] | length > 1 and (unique | length == 1) and .[0] != null' <<<"$output"
}

@test "a new op is right as it is; so is a variant of it once it is written; the commands that follow work" {
	written op test.shift
	[ "$(jq -r '.files | join(" ")' <<<"$new")" = "test_shift.c test_shift-bench/test-shift.bench test_shift-bench/suites/quick.suite" ]
	jq -e '.schema == 1 and .op == "test.shift" and .variant == null' <<<"$new"
	compiled
	do_it verify --json
	all_are ok 0
	ASSAY_DETERMINISTIC=1 do_it run --json
	all_are ok 0
	jq -e '.cases[0].digest and (.cases[0].axes | has("rows"))' <<<"$output"

	# a wrong one is found
	cp test_shift.c right.c
	sed -i 's/ + bias\[i\];/ - bias[i];/' test_shift.c
	compiled
	do_it verify --json
	all_are wrong 3
	cp right.c test_shift.c
	compiled

	# its own bench runs a variant of it
	written variant test.shift fast --plugin ./test_shift.so --bench-dir test_shift-bench
	[ "$(jq -r '.files | join(" ")' <<<"$new")" = fast.c ]
	jq -e '.op == "test.shift" and .variant == "fast"' <<<"$new"
	compiled
	do_it verify --json
	all_are wrong 3
	# threads share the rows of the output
	grep -q 'rows = out->spec->dims\[0\];' fast.c
	body fast.c <<-'END'
		const int64_t dim = job->shape->axis[1];
		const float *x = job->tensors[0].data, *bias = job->tensors[1].data;
		float *y = out->data;

		for (int64_t c = 0; c < dim; c++)
			y[dim * i + c] = bias[c] + x[dim * i + c];
	END
	compiled
	do_it verify --json
	all_are ok 0
	ASSAY_DETERMINISTIC=1 do_it run --json
	all_are ok 0
	jq -e '[.cases[].variant] | unique == ["fast", "ref"]' <<<"$output"
	do_it keep
	[ -e fast-before.so ]
	do_it compare --budget 2s --profile no --json
	[ "$status" = 0 ]
	jq -e '.verdict == "PASS" and (.cases | length > 0 and all(.key | startswith("test.shift/fast/")))' <<<"$output"
}

@test "a variant of an op that no suite has comes with a bench" {
	written variant example.scale fast --plugin "$ASSAY_BUILD/tests/plugins/example_op.so"
	[ "$(jq -r '.files | join(" ")' <<<"$new")" = "fast.c fast-bench/fast.bench fast-bench/suites/quick.suite" ]
	grep -q 'shapes  = {"n=1024"}' fast-bench/fast.bench
	compiled
	do_it verify --json
	all_are wrong 3
	echo '((uint32_t *)out->data)[i] = ((const uint32_t *)job->tensors[0].data)[i] * 2 + 1;' | body fast.c
	compiled
	do_it verify --json
	all_are ok 0
}

@test "a suite that is not the default one is named" {
	mkdir -p b/suites
	printf 'bench "s" {\n op = "quantize.q8_0"\n shapes = {"n=64"}\n}\n' >b/s.bench
	printf 'suite "quick" {\n use "s" {\n variants = {"ref"}\n }\n}\n' >b/suites/quick.suite
	printf 'suite "other" {\n use "s" { }\n}\n' >b/suites/other.suite
	written variant quantize.q8_0 mine --bench-dir b
	[ "$(jq -r .verify <<<"$new")" = "assay verify --plugin ./mine.so --bench-dir b --suite other --only 'quantize.q8_0/mine/n=64/*'" ]
}

@test "an installed program writes what compiles with pkg-config" {
	install_build PREFIX="$PWD/in stalled"
	ASSAY="$PWD/in stalled/bin/assay"
	export PKG_CONFIG_PATH="$PWD/in stalled/lib/pkgconfig"
	mkdir "my kernels"
	written op my.own -o "my kernels/own.c"
	# as make would quote what pkg-config prints
	jq -r .compile_installed <<<"$new" | grep -q 'cc .* \$(pkg-config --cflags assay) -o "my kernels/own.so" "my kernels/own.c"$'
	cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$(pkg-config --variable=includedir assay)" -o "my kernels/own.so" "my kernels/own.c"
	do_it verify --json
	all_are ok 0
	compiled
}

@test "a plugin in C++ is a plugin like others" {
	local std

	command -v c++ >/dev/null || skip "there is no C++ compiler: install the package g++"
	cat >cxx.cc <<-'END'
		#include <assay/plugin.h>

		template <int FACTOR> static int scaled(assay_job *job)
		{
			const auto *x = static_cast<const int32_t *>(job->tensors[0].data);
			auto *y = static_cast<int32_t *>(job->tensors[1].data);

			for (int64_t i = 0; i < job->shape->axis[0]; i++)
				y[i] = FACTOR * x[i] + 1;
			return 0;
		}

		static const assay_variant variants[] = {
			{ .op = "example.scale", .name = "cxx", .help = "a template", .run = scaled<2> },
			{ .op = "example.scale", .name = "off", .help = "another factor", .run = scaled<3> },
		};

		ASSAY_PLUGIN = { ASSAY_PLUGIN_HEADER, .name = "cxx", .version = "1", .variants = variants, .n_variants = 2 };
	END
	mkdir -p bench/suites
	echo 'bench "scale" { op = "example.scale" shapes = {"n=4096"} }' >bench/scale.bench
	echo 'suite "quick" { use "scale" { } }' >bench/suites/quick.suite
	for std in 17 20; do
		c++ -std=gnu++$std -Wall -Werror -O2 -shared -fPIC -I"$ASSAY_SOURCE/harness/include" -o cxx.so cxx.cc
		new='{"verify": "assay verify --no-default-plugins -p \"$ASSAY_BUILD/tests/plugins/example_op.so\" -p ./cxx.so --bench-dir bench --json"}'
		do_it verify --only example.scale/cxx
		all_are ok 0
		do_it verify --only example.scale/off
		all_are wrong 3
	done
}

@test "what is printed can be typed as it stands" {
	run --separate-stderr "$ASSAY" new variant quantize.q8_0 mine
	[ "$status" = 0 ] && [ -z "$stderr" ]
	[ "${lines[0]}" = "wrote mine.c" ]
	grep -q "^  cc -std=c11 .* -I.*include -o mine.so mine.c$" <<<"$output"
	grep -q '^  cc .* \$(pkg-config --cflags assay) -o mine.so mine.c$' <<<"$output"
	grep -qx "  assay verify --plugin ./mine.so --only 'quantize.q8_0/mine/n=1048576/\*'" <<<"$output"
	grep -qx "  assay run -v --plugin ./mine.so --only 'quantize.q8_0/\*/n=1048576/\*'" <<<"$output"
	grep -qx "  assay compare mine-before.so mine.so --only 'quantize.q8_0/mine/n=1048576/\*'" <<<"$output"
	# and stands in the source
	grep -qx "// Compile:  $(sed -n 's/^  \(cc .* -I.*\)/\1/p' <<<"$output")" mine.c
	grep -qx "// Check:    assay verify --plugin ./mine.so --only 'quantize.q8_0/mine/n=1048576/\*'" mine.c
	grep -qx "// Measure:  assay run -v --plugin ./mine.so --only 'quantize.q8_0/\*/n=1048576/\*'" mine.c
}

@test "nothing is overwritten, and nothing is left behind" {
	mkdir here && cd here
	written op my.own
	cp my_own.c before.c
	fails 2 "'my_own.c', 'my_own-bench' are there already, and nothing is overwritten" new op my.own
	cmp my_own.c before.c
	rm my_own.c
	fails 2 "'my_own-bench' is there already" new op my.own
	[ ! -e my_own.c ]
	ln -s nowhere.c link.c
	fails 2 "'link.c' is there already" new op my.other -o link.c
	[ ! -e nowhere.c ] && [ ! -e link-bench ]
	fails 2 "cannot write 'none/x.c': No such file or directory" new op my.other -o none/x.c
	[ "$(ls)" = $'before.c\nlink.c\nmy_own-bench' ]
}

@test "bad usage is one line" {
	mkdir here && cd here
	fails 2 "something is missing after 'new': expected 'variant OP NAME' or 'op NAME'" new
	fails 2 "something is missing after 'variant'" new variant matmul.ternary
	fails 2 "something is missing after 'op'" new op
	fails 2 "unexpected argument 'c'" new variant a b c
	fails 2 "unexpected argument 'b'" new op a b
	fails 2 "cannot write a new 'kernel'" new kernel x
	fails 2 "unknown op 'matmul.ternar': did you mean 'matmul.ternary'?" new variant matmul.ternar x
	fails 2 "unknown op 'nothing_like_it': 'assay list ops' lists them" new variant nothing_like_it x
	fails 2 "op 'generate.decode' has no variants of its own: it runs those of 'matmul.ternary'" new variant generate.decode x
	fails 2 "op 'matmul.ternary' has a variant 'ref' already, in '" new variant matmul.ternary ref
	for name in Upper a-b 'a b' '' ../x "$(printf 'x%.0s' {1..64})"; do
		fails 2 "bad name '$name' of a variant: expected a-z, 0-9 and '_'" new variant matmul.ternary "$name"
	done
	for name in plain a.b.c .a a. '' A.b 'a.b/c' "a.$(printf 'x%.0s' {1..64})"; do
		fails 2 "bad name '$name' of an op: expected FAMILY.PROBLEM" new op "$name"
	done
	fails 2 "there is an op 'matmul.ternary' already, in '" new op matmul.ternary
	for file in x '' .c dir/.c x.cc; do
		fails 2 "bad --output '$file': expected the name of a C file" new op my.own -o "$file"
	done
	fails 2 "cannot use plugin: " new variant matmul.ternary x --plugin "$ASSAY_BUILD/tests/plugins/bad_abi_newer.so"
	fails 2 "option '--output' needs a value" new op my.own --output
	[ -z "$(ls)" ]
}
