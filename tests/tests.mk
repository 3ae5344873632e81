# SPDX-License-Identifier: Apache-2.0
# Unit tests and the plugins and programs that tests use; other goals that test.
UNIT_FOLDERS := $(sort $(notdir $(patsubst %/,%,$(wildcard tests/unit/*/))))
UNIT_BINS := $(addprefix $(BUILD)/tests/test_,$(UNIT_FOLDERS))
# Plugins that differ by little are one source, whose PLUGIN_<name> is defined: SOURCE=NAME, the plugins beside SOURCE.so.
TEST_VARIANTS := $(addprefix compare_base=compare_,slower double tenfold twice two needs wrong bits crash spoils hangs lazy keeps refuses \
	scratch once parts hoards) $(addprefix compare_five=compare_five_,slower triple) $(addprefix exact_base=exact_,longer reads sha) \
	$(addprefix bad_descriptor=bad_,no_symbol magic abi_newer abi_older null_run many twice crash) hostile_state=hostile_flush \
	cupti_standin=cupti_older_standin
TEST_PLUGIN_SRCS := $(sort $(filter-out %/bad_descriptor.c,$(wildcard tests/plugins/*.c)))
TEST_PLUGINS := $(TEST_PLUGIN_SRCS:tests/plugins/%.c=$(BUILD)/tests/plugins/%.so) \
	$(foreach v,$(TEST_VARIANTS),$(BUILD)/tests/plugins/$(lastword $(subst =, ,$(v))).so)

# Most tests leave the parameter that cmocka passes alone, and stand-ins some of theirs. They are not optimized, which compiles
# in half of the time.
UNIT_CFLAGS = $(HARNESS_CFLAGS) -Itests/unit -Wno-unused-parameter -O0
TEST_CFLAGS = $(filter-out $(COVERAGE),$(UNIT_CFLAGS))
# There are many of them, and gold links in half the time. It complains of names that clang's sanitizer makes, and is left out then.
TEST_LDFLAGS := $(if $(filter test unit-tests soak,$(GOALS)),$(shell said=$$(echo 'int main(void) { return 0; }' | \
	$(CC) $(SANFLAGS) -fuse-ld=gold -x c -o /dev/null - 2>&1) && [ -z "$$said" ] && echo -fuse-ld=gold))
$(BUILD)/obj/tests/unit/%.o: tests/unit/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(TEST_CFLAGS) -c -o $@ $<
# One program a folder.
define unit_rule
$(BUILD)/tests/test_$(1): $(patsubst %.c,$(BUILD)/obj/%.o,tests/unit/main.c $(sort $(wildcard tests/unit/$(1)/*.c))) $(BUILD)/lib/libassay-core.a
	@mkdir -p $$(@D)
	$$(say)$$(CC) $$(SANFLAGS) $$(TEST_LDFLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka $$(LDLIBS)
endef
$(foreach f,$(UNIT_FOLDERS),$(eval $(call unit_rule,$(f))))
# These know how the page of a worker is laid out, or how CUPTI is.
$(addprefix $(BUILD)/tests/plugins/,hostile_page.so cheat_spy.so cupti_standin.so cupti_older_standin.so): PLUGIN_CFLAGS += -Iharness
# Loops that two of these share run equally fast: a short one that crosses a cache line takes twice as long on Zen 4.
$(BUILD)/tests/plugins/compare_%.so: PLUGIN_CFLAGS += -falign-loops=64
# Its threads run on when it is unloaded.
$(BUILD)/tests/plugins/cheat_threads.so: PLUGIN_CFLAGS += -Wl,-z,nodelete
# In the place of libraries, under their names.
$(BUILD)/tests/plugins/cublas_standin.so: PLUGIN_CFLAGS += -Wl,-soname,libcublas.so.13
$(BUILD)/tests/plugins/cublaslt_standin.so: PLUGIN_CFLAGS += -Wl,-soname,libcublasLt.so.13
$(BUILD)/tests/plugins/onednn_standin.so: PLUGIN_CFLAGS += -Wl,-soname,libdnnl.so.3
test_plugin = $(CC) $(PLUGIN_CFLAGS) -Wno-unused-parameter -DPLUGIN_$(notdir $*) -shared -Wl,--build-id -o $@ $<
define variant_rule
$(BUILD)/tests/plugins/$(2).so: $(BUILD)/tests/plugins/%.so: tests/plugins/$(1).c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(say)$$(test_plugin)
endef
$(foreach v,$(TEST_VARIANTS),$(eval $(call variant_rule,$(firstword $(subst =, ,$(v))),$(lastword $(subst =, ,$(v))))))
$(BUILD)/tests/plugins/%.so: tests/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(test_plugin)

# The kernels of GPUs on an emulated grid, beside the ops and the other variants: tests/cli/cuda.bats. C++ compiles them.
CXX_FOUND := $(if $(filter test unit-tests,$(GOALS)),$(shell command -v $(CXX)))
EMULATED  := $(BUILD)/tests/cuda/assay_cuda.so
EMULATED_SRCS := $(filter-out kernels/cuda/cuda_hold.cu,$(CUDA_SRCS)) $(wildcard tests/cuda/emulator/*.cu)
$(BUILD)/obj/emulated/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CXX) -x c++ -std=c++17 -O1 -g -fPIC -ffp-contract=off -Wall $(if $(filter 1,$(WERROR)),-Werror) -Wno-unknown-pragmas \
		-MMD -MP -Itests/cuda/emulator -Ikernels -Iharness/include -c -o $@ $<
# The table of variants, the device and its streams are the real ones, on an emulated runtime.
$(BUILD)/obj/emulated/cuda/cuda_%.o: kernels/cuda/cuda_%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(filter-out $(SANFLAGS),$(PLUGIN_CFLAGS)) -Itests/cuda/emulator \
		-DASSAY_CUDA=1 -c -o $@ $<
$(EMULATED): $(EMULATED_SRCS:%=$(BUILD)/obj/emulated/%.o) $(CUDA_C_SRCS:kernels/%.c=$(BUILD)/obj/emulated/%.o) | $(PLUGINS)
	@mkdir -p $(@D); ln -sf $(filter-out %/assay_cuda.so,$(abspath $(PLUGINS))) $(@D)
	$(say)$(CXX) -shared -o $@ $^
unit-tests: $(if $(CXX_FOUND),$(EMULATED))

# One source, each time with one thing changed; not sanitized, since that adds to every object what reaches all of it.
CODE_PROBES := $(addprefix $(BUILD)/tests/code_hash/,$(addsuffix .so,base unrelated renamed callee constant table pointer pointed \
	jumps data string import constructor bare stripped coarse-base coarse-callee coarse-pointed coarse-unrelated coarse-renamed))
probe_cc = $(CC) $(filter-out $(SANFLAGS) $(SAN_SECTIONS),$(PLUGIN_CFLAGS)) -DPROBE_$(lastword $(subst -, ,$*)) -shared -o $@ $<
$(BUILD)/tests/code_hash/%.so: tests/fixtures/code_hash/probe.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(probe_cc) $(PLUGIN_LDFLAGS)
$(BUILD)/tests/code_hash/coarse-%.so: tests/fixtures/code_hash/probe.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(probe_cc) -fno-function-sections -fno-data-sections -Wl,--emit-relocs
$(BUILD)/tests/code_hash/bare.so: tests/fixtures/code_hash/probe.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(probe_cc)
$(BUILD)/tests/code_hash/stripped.so: $(BUILD)/tests/code_hash/base.so
	$(say)$$($(CC) -print-prog-name=strip) -o $@ $<
$(BUILD)/tests/test_worker: | $(CODE_PROBES)
# tests of what only the program, or a plugin, has
$(BUILD)/tests/test_kernels: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard bench/generate/generate_vector_*.c))
$(BUILD)/tests/test_cli: $(BUILD)/obj/harness/cli/progress.o
$(BUILD)/tests/test_drive: | $(PLUGINS) $(BUILD)/share/assay
$(BUILD)/tests/test_kernels: | $(PLUGINS) $(PEERS) $(if $(CXX_FOUND),$(EMULATED))
# allocations of the harness that fail when the test says so
$(BUILD)/tests/test_judge: private LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# The program, and tests of counters, as they are where neither PAPI nor valgrind has headers: what asks for these is compiled
# once more and goes before the archive. In the shape of an installation.
BARE := $(BUILD)/tests/bare
BARE_OBJS  := $(patsubst %,$(BUILD)/obj/bare/%.o,papi/library callgrind/launch)
BARE_TESTS := counting papi_presets papi_sets callgrind
bare_cc = $(CC) $(filter-out -DASSAY_PAPI=% -DASSAY_VALGRIND=%,$(UNIT_CFLAGS)) -DASSAY_PAPI=0 -DASSAY_VALGRIND=0 -c -o $@ $<
$(BUILD)/obj/bare/tests/%.o: tests/unit/counters/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(bare_cc)
$(BUILD)/obj/bare/%.o: harness/counters/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(bare_cc)
$(BARE)/bin/assay: $(CLI_OBJS) $(BARE_OBJS) $(BUILD)/lib/libassay-core.a
	@mkdir -p $(@D); ln -sfn ../../share ../../plugins ../../lib ../../include $(BARE)
	$(say)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BARE)/test_counters: $(BARE_TESTS:%=$(BUILD)/obj/bare/tests/%.o) $(BUILD)/obj/tests/unit/main.o $(BARE_OBJS) $(BUILD)/lib/libassay-core.a
	@mkdir -p $(@D)
	$(say)$(CC) $(SANFLAGS) $(TEST_LDFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

# Fuzz targets. libFuzzer drives them in a build by clang with SANITIZE=fuzzer-no-link,...; plain_fuzzer.c in all others.
FUZZ_SRCS := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_SRCS:%.c=$(BUILD)/%)
FUZZER    := $(findstring fuzzer-no-link,$(SANITIZE))
$(BUILD)/obj/tests/fuzz/%.o: tests/fuzz/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(UNIT_CFLAGS) -c -o $@ $<
$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(if $(FUZZER),,$(BUILD)/obj/tests/fuzz/plain_fuzzer.o) $(BUILD)/lib/libassay-core.a
	@mkdir -p $(@D)
	$(say)$(CC) $(SANFLAGS) $(if $(FUZZER),-fsanitize=fuzzer) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/fuzz/fuzz_tokenizer:
$(BUILD)/tests/fuzz/fuzz_elf: | $(CODE_PROBES) $(BUILD)/tests/plugins/example_op.so
# A database of any size, to see how the store bears it: bench/scale.sh.
SCALE_BIN := $(BUILD)/tests/make_database
$(SCALE_BIN): tests/make_database.c $(BUILD)/lib/libassay-core.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(filter-out -O0,$(UNIT_CFLAGS)) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) $(LDLIBS)
fuzz-targets: $(FUZZ_BINS) ## build the fuzz targets; libFuzzer drives them with CC=clang SANITIZE=fuzzer-no-link,address,undefined
	@:

unit-tests: $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(UNIT_BINS) $(TEST_PLUGINS) $(BARE)/bin/assay $(BARE)/test_counters $(FUZZ_BINS) $(SCALE_BIN)

golden: unit-tests ## rewrite the approved texts of reports in tests/golden, whose diff is then reviewed
	@ASSAY_GOLDEN=1 CMOCKA_MESSAGE_OUTPUT=TAP $(BUILD)/tests/test_reports | grep '^not ok' || git diff --stat tests/golden

# Kernels of another architecture: their plugins and tests, run under emulation by tests/cli/cross.bats. Optional: what is
# missing is said there. A sanitized build has none: they cannot be sanitized, and the plain build tests the same.
CROSS_AARCH64 := $(if $(filter test cross-tests,$(if $(SANITIZE),,$(GOALS))),$(shell [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] && \
	command -v aarch64-linux-gnu-gcc))
CROSS_TESTS   := $(addprefix tests/unit/,main.c $(addprefix kernels/,ternary_variants.c quantize.c quantize_wrong.c quantize_halves.c \
	quantize_agree.c block_rows.c))
$(BUILD)/aarch64/tests/test_kernels: $(CROSS_TESTS) tests/cross/cmocka.h $(wildcard tests/unit/*.h tests/unit/kernels/*.h)
	@mkdir -p $(@D)
	$(say)$(CROSS_AARCH64) $(filter-out -MMD -MP $(SANFLAGS),$(BASE_CFLAGS)) -Wno-unused-parameter -O1 -Itests/cross -Itests/unit -Iharness/include \
		-o $@ $(CROSS_TESTS) -lm -ldl -lpthread
cross-tests: $(if $(CROSS_AARCH64),$(BUILD)/aarch64/tests/test_kernels) ## build what tests other architectures
	$(if $(CROSS_AARCH64),@$(MAKE) --no-print-directory BUILD=$(BUILD)/aarch64 CC=aarch64-linux-gnu-gcc SANITIZE= OPENBLAS=0 NVCC= plugins)

# Attacks for a given time. The program with sanitizers and the fuzz targets are a build of their own in ATTACKED, with libFuzzer
# where clang has it.
TIME ?= 10m
ATTACKED ?= $(BUILD)/soak
soak: all unit-tests ## attack the program for a while (TIME=10m SEED=... KIND=... TRIES=...)
	@$(MAKE) --no-print-directory BUILD=$(ATTACKED) soak-programs \
		$(if $(shell ci/deps.sh --has fuzzer:clang && echo 1),CC=clang SANITIZE=fuzzer-no-link$(comma)address$(comma)undefined,SANITIZE=address$(comma)undefined) \
		CFLAGS='-O1 -g'
	@SEED='$(SEED)' TIME='$(TIME)' KIND='$(KIND)' TRIES='$(TRIES)' tests/soak/soak.sh $(BUILD) $(ATTACKED)
soak-programs: $(BUILD)/bin/assay $(BUILD)/share/assay $(FUZZ_BINS)

# PAPI on a PMU: Debian's packages for arm64 go into $(BUILD)/pmu, and what cannot be had skips the tests with the reason.
test-pmu: ## test hardware counters on an emulated machine that has a PMU
	@ASSAY_BUILD='$(abspath $(BUILD))' ASSAY_SOURCE='$(CURDIR)' LC_ALL=C.UTF-8 bats --tap tests/pmu/pmu.bats

# Without what that takes, one line says so.
test-arm64: ## run the unit tests for arm64 under qemu-user (TESTS='worker kernels': only these)
	@tests/cross/arm64.sh $(BUILD)/arm64 $(TESTS) || [ $$? = 77 ]

test-gpu: all ## test the kernels for GPUs on a GPU (GPU=1: fail without one)
	@GPU='$(GPU)' ci/test_gpu.sh $(BUILD)

test: all unit-tests cross-tests ## build and run all tests (TESTS='run gate': of the command line tests only these)
	@TESTS='$(TESTS)' ci/run_tests.sh $(BUILD) $(UNIT_BINS)
