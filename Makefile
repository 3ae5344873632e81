# SPDX-License-Identifier: Apache-2.0
# assay: `make bench` measures, `make test` tests; `make help` lists the rest.

VERSION  := 0.1.0
CC       ?= gcc
CFLAGS   ?= -O2 -g
WERROR   ?= 0
SANITIZE ?=
V        ?= 0
# Optional parts: 0 leaves one out, 1 insists on it, auto takes it where it is found; WITH_CUDA is another name of CUDA.
# OpenBLAS is loaded when a case needs it and takes nothing to build, so it is in unless left out.
PAPI     ?= auto
VALGRIND ?= auto
CUDA     ?= $(or $(WITH_CUDA),auto)
ZYDIS    ?= auto
LIBDW    ?= auto
OPENBLAS ?= 1

# Sanitized objects live beside the normal ones, never among them.
comma := ,
BUILD ?= build$(if $(SANITIZE),/san-$(subst $(comma),-,$(SANITIZE)))
# A folder of the tree has one name: with another its objects would have other flags and be compiled again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))

# ---- packages: looked for before anything asks pkg-config; only `make bench`, `test` and `test-pmu` install what is missing ----
GOALS := $(or $(MAKECMDGOALS),all)
# `make` with nothing to compile needs none
NEEDS := $(if $(filter-out help clean format,$(GOALS)),build) $(if $(filter bench report test soak,$(GOALS)),run) \
	$(if $(filter test test-pmu unit-tests soak,$(GOALS)),test) $(if $(filter test-pmu,$(GOALS)),pmu) $(filter lint,$(GOALS)) \
	$(if $(filter test,$(GOALS)),install)
ifneq (,$(filter build,$(NEEDS)))
# Whoever writes yes must not get what another value stands for.
check = $(if $(and $(filter 1,$(words $($(1)))),$(filter $(2),$($(1)))),,$(error $(1) is '$($(1))', expected $(3)))
$(foreach name,V WERROR OPENBLAS,$(call check,$(name),0 1,0 or 1))
$(foreach name,PAPI VALGRIND CUDA ZYDIS LIBDW,$(call check,$(name),0 1 auto,0$(comma) 1 or auto))
SANITIZERS := address undefined thread leak fuzzer-no-link
$(if $(filter-out $(SANITIZERS),$(subst $(comma), ,$(SANITIZE))),$(error SANITIZE is '$(SANITIZE)', expected some of $(SANITIZERS), with commas))
ifeq (,$(findstring n,$(firstword -$(MAKEFLAGS))))
PACKAGES := $(shell ASSAY_NO_INSTALL='$(ASSAY_NO_INSTALL)' ASSAY_DEPS_STATE=$(BUILD)/packages-left-out \
	ci/deps.sh $(if $(filter bench test test-pmu,$(GOALS)),,--check) $(NEEDS) && echo ok)
ifneq (ok,$(PACKAGES))
$(error $(or $(PACKAGES),ci/deps.sh failed))
endif
endif
endif

# As many jobs as processors; a -j of the caller wins, and a make that another one started shares its jobs.
ifeq (0,$(MAKELEVEL))
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings
WARN += $(if $(filter 1,$(WERROR)),-Werror)
# What libFuzzer counts slows down, and only parsers are fuzzed: plugins and tests do without.
COVERAGE := $(filter fuzzer-no-link,$(subst $(comma), ,$(SANITIZE)))
COVERAGE := $(COVERAGE:%=-fsanitize=%)
SANFLAGS := $(patsubst %,-fsanitize=%,$(filter-out fuzzer-no-link,$(subst $(comma), ,$(SANITIZE)))) $(COVERAGE)
SANFLAGS += $(if $(SANITIZE),-fno-omit-frame-pointer -fno-sanitize-recover=undefined)
# Flags are part of what recorded counts hold for.
SANFLAGS := $(strip $(SANFLAGS))

ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)

PKGS := hwloc sqlite3 jansson libxxhash libconfuse
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# PAPI gives its headers here and is loaded when a case counts something.
PAPI_FOUND := $(if $(filter 0,$(PAPI)),,$(shell pkg-config --modversion papi 2>/dev/null))
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(PAPI)$(PAPI_FOUND))
$(error PAPI=1, but pkg-config does not find papi: install libpapi-dev or leave it at PAPI=auto)
endif
endif
# valgrind gives its headers, too; the program is started when cases are counted.
VALGRIND_FOUND := $(if $(filter 0,$(VALGRIND)),,$(shell $(CC) -include valgrind/callgrind.h -fsyntax-only -x c /dev/null 2>/dev/null && echo 1))
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(VALGRIND)$(VALGRIND_FOUND))
$(error VALGRIND=1, but there is no valgrind/callgrind.h: install valgrind or leave it at VALGRIND=auto)
endif
endif

# Zydis decodes the instructions of a kernel that is stepped through; Debian's package has no .pc file.
ZYDIS_FOUND := $(if $(filter 0,$(ZYDIS)),,$(if $(filter x86_64,$(ARCH)),$(shell \
	echo 'int main(void) { return (int)(ZydisGetVersion() >> 48) != 4; }' | \
	$(CC) -include Zydis/Zydis.h -x c -o /dev/null - -lZydis 2>/dev/null && echo 1)))
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(ZYDIS)$(ZYDIS_FOUND))
$(error ZYDIS=1, but there is no Zydis for $(ARCH): install libzydis-dev or leave it at ZYDIS=auto)
endif
endif

# libdw tells to which function and line an address belongs.
LIBDW_FOUND := $(if $(filter 0,$(LIBDW)),,$(shell pkg-config --modversion libdw 2>/dev/null))
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(LIBDW)$(LIBDW_FOUND))
$(error LIBDW=1, but pkg-config does not find libdw: install libdw-dev or leave it at LIBDW=auto)
endif
endif

# valgrind 3.19 gives up on the debug information that clang 14 writes unless it is told otherwise.
DEBUG_CFLAGS := $(shell $(CC) -fdebug-default-version=4 -fsyntax-only -x c /dev/null 2>/dev/null && echo -fdebug-default-version=4)
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE $(WARN) $(SANFLAGS) $(DEBUG_CFLAGS) -fvisibility=hidden -MMD -MP
HARNESS_CFLAGS = $(BASE_CFLAGS) $(CFLAGS) -DASSAY_PAPI=$(if $(PAPI_FOUND),1,0) -DASSAY_VALGRIND=$(if $(VALGRIND_FOUND),1,0) \
	-DASSAY_ZYDIS=$(if $(ZYDIS_FOUND),1,0) -DASSAY_LIBDW=$(if $(LIBDW_FOUND),1,0) \
	-Iharness -Iharness/include -I. -I$(BUILD)/gen $(PKG_CFLAGS)
# No contraction: a fused multiply-add would change the bits that variants must agree on.
# Each function and each object is a section, up to the finished plugin, and relocations are kept: harness/worker/plugin/code_hash.c
# tells from them which variants have changed. With a linker that cannot do this, set PLUGIN_LDFLAGS= (all then count as changed).
# Not so .rodata itself, vectors of 64 bytes that GCC makes: valgrind 3.19 reads no names from a plugin with two of that name.
# Functions begin with a cache line, so that no change of another one moves the loops of this one over a line, which on Zen 4
# costs a short loop up to 25 %.
# Sanitizers check the same at -O1, which compiles in less than half the time.
PLUGIN_CFLAGS = $(filter-out $(COVERAGE),$(BASE_CFLAGS)) $(CFLAGS) $(if $(SANITIZE),-O1 -Wno-pass-failed,-O3) -fPIC -ffp-contract=off -fno-math-errno -ffunction-sections -fdata-sections \
	-falign-functions=64 -Iharness/include
# The address sanitizer's constructor reaches all data of its object: sections of their own would tell nothing apart, and every
# worker would go through thousands.
SAN_SECTIONS := $(if $(findstring address,$(SANITIZE)),-fno-data-sections)
PLUGIN_CFLAGS += $(SAN_SECTIONS)
PLUGIN_LDFLAGS ?= -Wl,--emit-relocs $(patsubst %,-Wl$(comma)--unique='%',.text.* .rodata.* .data.* .bss.*)
# Loaded by CUDA's driver into programs of any kind.
GPU_LIB := $(BUILD)/lib/assay/assay-gpu.so
# Stands before malloc in a worker, which it cannot where a sanitizer does.
HEAP_LIB := $(if $(findstring address,$(SANITIZE))$(findstring thread,$(SANITIZE)),,$(BUILD)/lib/assay/assay-heap.so \
	$(BUILD)/lib/assay/assay-timers.so)
# Stands before the functions in which threads wait, as do sanitizers.
THREADS_LIB := $(if $(HEAP_LIB),$(BUILD)/lib/assay/assay-threads.so)
PRELOAD_CFLAGS = $(filter-out $(SANFLAGS),$(BASE_CFLAGS)) $(CFLAGS) -fPIC -fno-builtin -Iharness
LDLIBS := $(PKG_LIBS) $(if $(ZYDIS_FOUND),-lZydis) $(if $(LIBDW_FOUND),-ldw) -lm -ldl -lpthread

# ---- harness ----
# Objects that are loaded into other programs: recorders of heaps, threads and GPUs.
LOADED := $(addprefix harness/counters/,preload waits injected)
CORE_SRCS := $(sort $(filter-out $(LOADED:%=%/%),$(foreach layer,base model stats machine counters profile plan worker measure store judge drive,\
	$(wildcard harness/$(layer)/*.c harness/$(layer)/*/*.c)) $(wildcard reports/*.c reports/*/*.c)))
CLI_SRCS  := $(sort $(wildcard harness/cli/*.c))
CORE_OBJS := $(CORE_SRCS:%.c=$(BUILD)/obj/%.o)
CLI_OBJS  := $(CLI_SRCS:%.c=$(BUILD)/obj/%.o)

# ---- plugins: bench/ becomes ops.so; each kernels/<family> one object of variants, its OpenBLAS variants another ----
OPS_SRCS := $(sort $(wildcard bench/*.c bench/*/*.c))
FAMILIES := $(filter-out cuda,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard kernels/*/*_plugin.c))))))
family_srcs = $(sort $(filter-out %_openblas.c %_openblas_plugin.c,$(wildcard kernels/$(1)/*.c)))
blas_srcs   = $(sort $(wildcard kernels/$(1)/*_openblas.c kernels/$(1)/*_openblas_plugin.c))
BLAS_FAMILIES := $(foreach f,$(FAMILIES),$(if $(call blas_srcs,$(f)),$(f)))

# CUDA variants of all families are one plugin. nvcc compiles its kernels; without it the plugin says so of all its variants.
ifeq (0,$(CUDA))
override NVCC :=
else ifeq (undefined,$(origin NVCC))
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(CUDA)$(NVCC))
$(error CUDA=1, but there is no nvcc in PATH or /usr/local/cuda/bin: install the CUDA toolkit or leave it at CUDA=auto)
endif
endif
# nvcc itself says where its headers and libraries lie: what PATH has may be a script elsewhere.
nvcc_paths = $(if $(NVCC),$(shell $(NVCC) --dryrun -x cu -c /dev/null 2>&1 | sed -n 's/^[^ ]* $(1)= *//p' | tr -d '"'))
CUDA_INCLUDES := $(patsubst -I%,-isystem %,$(call nvcc_paths,INCLUDES))
CUDA_LIBS     := $(call nvcc_paths,LIBRARIES)
CUDA_C_SRCS := $(sort $(wildcard kernels/cuda/*.c))
CUDA_SRCS   := $(sort $(wildcard kernels/cuda/*.cu kernels/*/cuda/*.cu))
CUDA_ARCHS  := 80 86 89 90
# No contraction, as in C; divisions, roots and subnormals are IEEE's unless asked otherwise. No line numbers: a remark would be a
# change of code.
NVCC_FLAGS   = -std=c++17 -O3 -fmad=false $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a)$(comma)code=sm_$(a)) \
	-gencode arch=compute_90$(comma)code=compute_90 -Xptxas -v -Xcompiler -fPIC$(comma)-fvisibility=hidden$(comma)-fno-exceptions$(comma)-fno-threadsafe-statics$(comma)-Wall \
	$(if $(filter 1,$(WERROR)),-Werror all-warnings) -DASSAY_CUDA=1 -Ikernels -Iharness/include
CUDA_C_FLAGS = $(if $(NVCC),-DASSAY_CUDA=1 -Ikernels $(CUDA_INCLUDES),-DASSAY_CUDA=0)

PLUGINS := $(BUILD)/plugins/ops.so $(FAMILIES:%=$(BUILD)/plugins/%.so) \
	$(if $(filter-out 0,$(OPENBLAS)),$(BLAS_FAMILIES:%=$(BUILD)/plugins/%-openblas.so)) \
	$(if $(filter-out 0,$(CUDA)),$(BUILD)/plugins/assay_cuda.so)
KERNEL_COSTS := $(if $(NVCC),$(BUILD)/plugins/assay_cuda.kernels.json)

# Variants, and parts of an op, are compiled for the instruction set that their file name ends in; the CPU is asked before they
# are called. assay/isa_table.h has the flags of each, as NAME=FLAG,FLAG here.
ISA_TABLE := harness/include/assay/isa_table.h
ISA_FLAGS := $(shell sed -n 's/^ISA.\([a-z0-9]*\), "$(ARCH)", [0-9]*, "\([^"]*\)",.*/\1=\2/p' $(ISA_TABLE) | tr ' ' ,)
isa = $(lastword $(subst _, ,$(basename $(1))))
isa_flags = $(subst $(comma), ,$(patsubst $(isa)=%,%,$(filter $(isa)=%,$(ISA_FLAGS))))

Q := $(if $(filter 1,$(V)),,@)
# One line for the whole build, with its progress. How many steps there are is what a dry run would do, once flags and revision are
# up to date: their rules always run, and a dry run takes them for changed.
COUNTING ?=
ifeq (,$(COUNTING)$(filter 1,$(V))$(findstring n,$(firstword -$(MAKEFLAGS))))
ifneq (,$(filter build,$(NEEDS)))
# In the environment, since make quotes what its command line set for itself, not for the shell.
count = MAKEFLAGS='$(if $(MAKEOVERRIDES),-- $(subst ','\'',$(MAKEOVERRIDES)))' $(MAKE) --no-print-directory COUNTING=1 ASSAY_NO_INSTALL=1
STEPS := $(shell mkdir -p $(BUILD) && : > $(BUILD)/progress; \
	$(count) -s $(BUILD)/flags $(BUILD)/gen/build_info.h >&2; $(count) -n COUNTING=dry $(GOALS) 2>/dev/null | grep -c 'ci/progress\.sh')
endif
endif
step = ci/progress.sh $(BUILD)/progress $(or $(STEPS),0);
say = $(if $(filter 1,$(V)),,@$(step))
ALWAYS = $(if $(filter dry,$(COUNTING)),,FORCE)

.DEFAULT_GOAL := all
.PHONY: all plugins help clean test unit-tests fuzz-targets soak soak-programs cross-tests test-pmu test-gpu bench gate compare report manifests lint format man install install-files FORCE
all: $(BUILD)/features $(BUILD)/bin/assay $(PLUGINS) $(KERNEL_COSTS) $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(BUILD)/share/assay $(BUILD)/include ## build the program and its plugins
	@:

plugins: $(PLUGINS) $(KERNEL_COSTS) ## build the plugins alone, as `assay compare` does for a revision
	@:

help: ## show this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

clean: ## remove everything that was built
	rm -rf build

# Which optional parts are in; printed when that changes.
FEATURES = PAPI $(if $(PAPI_FOUND),$(PAPI_FOUND),no $(if $(filter 0,$(PAPI)),(PAPI=0),headers (libpapi-dev): no hardware counters)); \
	valgrind $(if $(VALGRIND_FOUND),headers,no $(if $(filter 0,$(VALGRIND)),(VALGRIND=0),headers (valgrind): no exact counts)); \
	Zydis $(if $(ZYDIS_FOUND),found,no $(if $(filter 0,$(ZYDIS)),(ZYDIS=0),library (libzydis-dev): no exact counts by stepping)); \
	libdw $(if $(LIBDW_FOUND),$(LIBDW_FOUND),no $(if $(filter 0,$(LIBDW)),(LIBDW=0),headers (libdw-dev): no exact counts by stepping)); \
	OpenBLAS $(if $(filter 0,$(OPENBLAS)),no (OPENBLAS=0),found when run); \
	CUDA $(if $(NVCC),$(NVCC),no $(if $(filter 0,$(CUDA)),(CUDA=0),nvcc: kernels for GPUs are not compiled)); compiler $(CC)$(if $(SANITIZE),; sanitizers $(SANITIZE))
$(BUILD)/features: FORCE
	@mkdir -p $(@D); echo '$(FEATURES)' | cmp -s - $@ || { echo '$(FEATURES)' > $@; echo '  with   $(FEATURES)'; }

# What was built from what, for the results that this build will make.
$(BUILD)/gen/build_info.h: $(ALWAYS)
	@mkdir -p $(@D); ci/build_info.sh '$(VERSION)' '$(firstword $(CC))' '$(CFLAGS) $(SANFLAGS) | plugins $(CFLAGS) -O3 -ffp-contract=off -fno-math-errno' \
		> $@.tmp; cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(BUILD)/obj/harness/drive/run/build_identity.o: $(BUILD)/gen/build_info.h

# A build folder has the shape of an installation, so that the program finds its files in the same way.
$(BUILD)/share/assay:
	@mkdir -p $@.tmp; ln -sfnr bench $@.tmp/bench; ln -sfnr baselines $@.tmp/baselines; mv -T $@.tmp $@
all: $(BUILD)/share/assay/templates $(BUILD)/bin/assay-gate
$(BUILD)/share/assay/templates: | $(BUILD)/share/assay
	@ln -sfnr ci/templates $@
$(BUILD)/bin/assay-gate:
	@mkdir -p $(@D); ln -sfnr ci/gate.sh $@
$(BUILD)/include:
	@mkdir -p $(@D); ln -sfnr harness/include $@

# Objects depend on a file that changes only when the compiler or its flags do.
$(BUILD)/flags: $(ALWAYS)
	@mkdir -p $(@D); printf '%s\n' '$(CC) $(HARNESS_CFLAGS) | $(PLUGIN_CFLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(HARNESS_CFLAGS) | $(PLUGIN_CFLAGS)' > $@
# Likewise of CUDA, whose compiler may come later.
$(BUILD)/flags-cuda: $(ALWAYS)
	@mkdir -p $(@D); printf '%s\n' '$(NVCC) $(NVCC_FLAGS) | $(CUDA_C_FLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(NVCC) $(NVCC_FLAGS) | $(CUDA_C_FLAGS)' > $@

# XXH3 reads its input 1.5 to 1.8 times as fast then, and a pair of a case in memory digests gigabytes.
$(BUILD)/obj/harness/base/hash.o: private HARNESS_CFLAGS += -O3
$(BUILD)/obj/harness/%.o: harness/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(HARNESS_CFLAGS) -c -o $@ $<
$(BUILD)/obj/reports/%.o: reports/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(HARNESS_CFLAGS) -c -o $@ $<
$(BUILD)/obj/bench/%.o: bench/%.c $(BUILD)/flags $(ISA_TABLE)
	@mkdir -p $(@D)
	$(say)$(CC) $(PLUGIN_CFLAGS) $(call isa_flags,$(notdir $<)) -c -o $@ $<
$(BUILD)/obj/kernels/%.o: kernels/%.c $(BUILD)/flags $(ISA_TABLE)
	@mkdir -p $(@D)
	$(say)$(CC) $(PLUGIN_CFLAGS) $(call isa_flags,$(notdir $<)) -c -o $@ $<

# The migrations of the store, in order, as C strings.
STORE_SQL := $(sort $(wildcard harness/store/schema/*.sql))
$(BUILD)/gen/store_schema.h: harness/store/schema/embed.awk $(STORE_SQL)
	@mkdir -p $(@D)
	$(say)awk -f $< $(STORE_SQL) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/store/migrate.o: $(BUILD)/gen/store_schema.h

# What `assay new` writes, as C strings.
TEMPLATES := $(sort $(wildcard harness/drive/author/templates/*.in))
$(BUILD)/gen/new_templates.h: harness/drive/author/templates/embed.awk $(TEMPLATES)
	@mkdir -p $(@D)
	$(say)awk -f $< $(TEMPLATES) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/drive/author/template.o: $(BUILD)/gen/new_templates.h

# The page of `assay report`, as C strings: its scripts are one text, in this order.
FLAME := reports/profile/flame/flame.css reports/profile/flame/timeline.css reports/profile/flame/flame.js
PAGE := $(addprefix reports/page/web/,head.html page.html page.css words.js pictures.js table.js parts.js run_page.js comparison_page.js) \
	$(FLAME) reports/page/web/page.js
$(BUILD)/gen/report_page.h: reports/page/web/embed.sh harness/drive/author/templates/embed.awk $(PAGE)
	@mkdir -p $(@D)
	$(say)reports/page/web/embed.sh $(@D)/report_page $(PAGE) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/page/html.o: $(BUILD)/gen/report_page.h

# The page of a profile, as C strings.
PROFILE_PAGE := reports/page/web/head.html reports/profile/flame/profile.html reports/page/web/page.css $(FLAME) reports/profile/flame/all_graphs.js
$(BUILD)/gen/profile_page.h: reports/page/web/embed.sh harness/drive/author/templates/embed.awk $(PROFILE_PAGE)
	@mkdir -p $(@D)
	$(say)reports/page/web/embed.sh $(@D)/profile_page $(PROFILE_PAGE) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/profile/html.o: $(BUILD)/gen/profile_page.h

# Style and script of flame graphs, as C strings.
$(BUILD)/gen/flame_files.h: harness/drive/author/templates/embed.awk $(FLAME)
	@mkdir -p $(@D)
	$(say)awk -f $< $(FLAME) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/profile/flame_svg.o: $(BUILD)/gen/flame_files.h

# What gnuplot draws, as C strings.
GNUPLOT := $(sort $(wildcard reports/plot/gnuplot/*.gp))
$(BUILD)/gen/plot_programs.h: harness/drive/author/templates/embed.awk $(GNUPLOT)
	@mkdir -p $(@D)
	$(say)awk -f $< $(GNUPLOT) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/plot/program.o: $(BUILD)/gen/plot_programs.h

# Names of system calls, as the kernel's headers have them.
$(BUILD)/gen/syscall_names.h: $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)echo '#include <asm/unistd.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ __NR_\1, "\1" },/p' > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/counters/syscalls/provider_syscalls.o: $(BUILD)/gen/syscall_names.h

$(BUILD)/lib/libassay-core.a: $(CORE_OBJS)
	@mkdir -p $(@D); rm -f $@
	$(say)ar qcs $@ $^ # members of several folders may have one name

$(BUILD)/bin/assay: $(CLI_OBJS) $(BUILD)/lib/libassay-core.a
	@mkdir -p $(@D)
	$(say)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

preloaded = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard harness/counters/$(1)/*.c))
$(call preloaded,preload) $(call preloaded,waits): $(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(PRELOAD_CFLAGS) -c -o $@ $<
$(BUILD)/lib/assay/assay-heap.so: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard harness/counters/preload/heap_*.c)) \
	$(addprefix $(BUILD)/obj/harness/counters/preload/,growing_file.o mapped_code.o)
$(BUILD)/lib/assay/assay-threads.so: $(call preloaded,waits) \
	$(addprefix $(BUILD)/obj/harness/counters/preload/,growing_file.o heap_stacks.o mapped_code.o)
$(BUILD)/lib/assay/assay-heap.so $(BUILD)/lib/assay/assay-threads.so:
	@mkdir -p $(@D)
	$(say)$(CC) $(LDFLAGS) -shared -o $@ $^ -ldl
$(BUILD)/lib/assay/assay-timers.so: $(BUILD)/obj/harness/counters/preload/timer_sampler.o
	@mkdir -p $(@D)
	$(say)$(CC) $(LDFLAGS) -shared -o $@ $^ -ldl -lpthread

$(BUILD)/obj/harness/counters/injected/%.o: harness/counters/injected/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(PRELOAD_CFLAGS) -c -o $@ $<
$(GPU_LIB): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard harness/counters/injected/*.c))
	@mkdir -p $(@D)
	$(say)$(CC) $(LDFLAGS) -shared -o $@ $^ -ldl -lpthread

link_plugin = $(CC) $(SANFLAGS) $(LDFLAGS) -shared -Wl,--build-id $(PLUGIN_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/plugins/ops.so: $(OPS_SRCS:%.c=$(BUILD)/obj/%.o)
	@mkdir -p $(@D)
	$(say)$(link_plugin) -lm

# What the compiler tells of each kernel's registers stays beside the object. Its parts name shared memory and tables after the
# folder of the source, so that the same kernels from two folders would be different code. They are told another folder, by an
# option that is not documented: an nvcc that lacks it does without.
nvcc_object = $(NVCC) $(NVCC_FLAGS) $(1) -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2> $@.ptxas
nvcc_folder = $(foreach part,cicc cudafe,-X$(part) --orig_src_path_name -X$(part) /assay/$<)
$(BUILD)/obj/kernels/%.cu.o: kernels/%.cu $(BUILD)/flags-cuda
	@mkdir -p $(@D)
	$(say)$(call nvcc_object,$(nvcc_folder)) || $(call nvcc_object) || { cat $@.ptxas >&2; rm -f $@; exit 1; }
$(CUDA_C_SRCS:%.c=$(BUILD)/obj/%.o): private PLUGIN_CFLAGS += $(CUDA_C_FLAGS)
$(CUDA_C_SRCS:%.c=$(BUILD)/obj/%.o): $(BUILD)/flags-cuda
$(BUILD)/plugins/assay_cuda.so: $(CUDA_C_SRCS:%.c=$(BUILD)/obj/%.o) $(if $(NVCC),$(CUDA_SRCS:%=$(BUILD)/obj/%.o))
	@mkdir -p $(@D)
	$(say)$(link_plugin) $(if $(NVCC),-Wl$(comma)--exclude-libs$(comma)ALL $(CUDA_LIBS) -lcudart_static -lrt -lpthread) -ldl $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)

# What the compiler says of them lies beside the plugin, for `assay gate --evidence exact`.
NVCC_VERSION  = nvcc $(lastword $(subst V,,$(shell $(NVCC) --version | sed -n 's/.*, V\([0-9.]*\)$$/\1/p')))
$(BUILD)/tools/kernel_costs: kernels/cuda/costs/kernel_costs.c kernels/cuda/cuda_shapes.h $(BUILD)/flags-cuda
	@mkdir -p $(@D)
	$(say)$(CC) $(filter-out -MMD -MP $(SANFLAGS),$(BASE_CFLAGS)) $(CUDA_INCLUDES) -Ikernels -o $@ $<
$(BUILD)/plugins/assay_cuda.kernels.json: $(BUILD)/tools/kernel_costs $(CUDA_SRCS:%=$(BUILD)/obj/%.o)
	@mkdir -p $(@D)
	$(say)$< '$(NVCC_VERSION)' $(CUDA_SRCS:%=$(BUILD)/obj/%.o.ptxas) > $@.tmp && mv $@.tmp $@

define family_rules
$(BUILD)/plugins/$(1).so: $(patsubst %.c,$(BUILD)/obj/%.o,$(call family_srcs,$(1)))
	@mkdir -p $$(@D)
	$$(say)$$(link_plugin) -lm
$(BUILD)/plugins/$(1)-openblas.so: $(patsubst %.c,$(BUILD)/obj/%.o,$(call blas_srcs,$(1)))
	@mkdir -p $$(@D)
	$$(say)$$(link_plugin) -ldl
endef
$(foreach f,$(FAMILIES),$(eval $(call family_rules,$(f))))

# ---- tests ----
UNIT_FOLDERS := $(sort $(notdir $(patsubst %/,%,$(wildcard tests/unit/*/))))
UNIT_BINS := $(addprefix $(BUILD)/tests/test_,$(UNIT_FOLDERS))
# Plugins that differ by little are one source, whose PLUGIN_<name> is defined: SOURCE=NAME, the plugins beside SOURCE.so.
TEST_VARIANTS := $(addprefix compare_base=compare_,slower double tenfold twice two needs wrong bits crash spoils hangs lazy keeps refuses \
	scratch once parts hoards) $(addprefix compare_five=compare_five_,slower triple) $(addprefix exact_base=exact_,longer reads) \
	$(addprefix bad_descriptor=bad_,no_symbol magic abi_newer abi_older null_run many twice) hostile_state=hostile_flush \
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
# In the place of NVIDIA's libraries, under their names.
$(BUILD)/tests/plugins/cublas_standin.so: PLUGIN_CFLAGS += -Wl,-soname,libcublas.so.13
$(BUILD)/tests/plugins/cublaslt_standin.so: PLUGIN_CFLAGS += -Wl,-soname,libcublasLt.so.13
test_plugin = $(CC) $(PLUGIN_CFLAGS) -Wno-unused-parameter -DPLUGIN_$(notdir $*) -shared -Wl,--build-id -o $@ $<
define variant_rule
# named by the dependencies of builds from before
tests/plugins/$(2).c:
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
	$(say)strip -o $@ $<
$(BUILD)/tests/test_worker: | $(CODE_PROBES)
# tests of what only the program, or a plugin, has
$(BUILD)/tests/test_kernels: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard bench/generate/generate_vector_*.c))
$(BUILD)/tests/test_cli: $(BUILD)/obj/harness/cli/progress.o
$(BUILD)/tests/test_drive: | $(PLUGINS) $(BUILD)/share/assay
$(BUILD)/tests/test_kernels: | $(PLUGINS) $(if $(CXX_FOUND),$(EMULATED))
# allocations of the harness that fail when the test says so
$(BUILD)/tests/test_judge: private LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
$(BUILD)/tests/test_measure: private LDFLAGS += -Wl,--wrap=realloc

# The program, and tests of counters, as they are where neither PAPI nor valgrind has headers: what asks for these is compiled
# once more and goes before the archive. In the shape of an installation.
BARE := $(BUILD)/tests/bare
BARE_OBJS  := $(patsubst %,$(BUILD)/obj/bare/%.o,papi/library callgrind/requests callgrind/launch)
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
$(BUILD)/tests/fuzz/fuzz_elf: | $(CODE_PROBES) $(BUILD)/tests/plugins/example_op.so
# A database of any size, to see how the store bears it: bench/scale.sh.
$(BUILD)/obj/tests/scale/%.o: tests/scale/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(filter-out -O0,$(UNIT_CFLAGS)) -Itests/scale -c -o $@ $<
SCALE_BIN := $(BUILD)/tests/make_database
$(SCALE_BIN): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/scale/*.c))) $(BUILD)/lib/libassay-core.a
	@mkdir -p $(@D)
	$(say)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
fuzz-targets: $(FUZZ_BINS) ## build the fuzz targets; libFuzzer drives them with CC=clang SANITIZE=fuzzer-no-link,address,undefined
	@:

unit-tests: $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(UNIT_BINS) $(TEST_PLUGINS) $(BARE)/bin/assay $(BARE)/test_counters $(FUZZ_BINS) $(SCALE_BIN)

# Kernels of another architecture: their plugins and tests, run under emulation by tests/cli/cross.bats. Optional: what is
# missing is said there. A sanitized build has none: they cannot be sanitized, and the plain build tests the same.
CROSS_AARCH64 := $(if $(filter test cross-tests,$(if $(SANITIZE),,$(GOALS))),$(shell [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] && \
	command -v aarch64-linux-gnu-gcc))
CROSS_TESTS   := $(addprefix tests/unit/,main.c $(addprefix kernels/,ternary_variants.c quantize.c quantize_wrong.c quantize_halves.c \
	quantize_agree.c))
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

test-gpu: all ## test the kernels for GPUs on a GPU (GPU=1: fail without one)
	@GPU='$(GPU)' ci/test_gpu.sh $(BUILD)

test: all unit-tests cross-tests ## build and run all tests
	@ci/run_tests.sh $(BUILD) $(UNIT_BINS)

# ---- measuring ----
SUITE ?= quick
ASSAY = $(BUILD)/bin/assay

# The gravest of both exit codes, in the order of the design.
bench: all ## measure the quick suite and judge it (SUITE=...)
	@$(ASSAY) run --suite $(SUITE); r=$$?; \
	case $$r in 0|3|4) ;; *) exit $$r ;; esac; \
	echo; $(ASSAY) gate --suite $(SUITE) --allow-no-baseline; g=$$?; \
	for c in 70 2 3 4 1 5 6; do if [ $$r = $$c ] || [ $$g = $$c ]; then exit $$c; fi; done

# Reports land in $(BUILD)/gate; BASE= names another revision than the one this tree branched off. A revision is built in a
# tree of its own, which must not take this one's BUILD= for its own.
gate: all | $(filter bench,$(GOALS)) ## compare with the merge base; without one judge against the stored baseline (SUITE=... STRICT=1)
	@env -u BUILD ASSAY='$(ASSAY)' SUITE='$(SUITE)' BASE='$(BASE)' STRICT='$(STRICT)' GATE_DIR='$(BUILD)/gate' ci/gate.sh

compare: all ## compare the working tree with a revision, plugin or folder (BASE=... SUITE=...)
	@[ -n '$(BASE)' ] || { echo "make compare: name what to compare with, for example 'make compare BASE=main'" >&2; exit 2; }
	@env -u BUILD $(ASSAY) compare '$(BASE)' --suite $(SUITE)

report: all | $(filter bench,$(GOALS)) ## the newest run as a page, build/report.html
	@$(ASSAY) report -o $(BUILD)/report.html

manifests: all ## rewrite baselines/*.manifest from the suites
	@for s in bench/suites/*.suite; do n=$$(basename $$s .suite); \
		$(ASSAY) list --manifest --suite $$n > $(BUILD)/$$n.manifest || exit; \
		cmp -s $(BUILD)/$$n.manifest baselines/$$n.manifest || cp $(BUILD)/$$n.manifest baselines/; done

lint: $(BUILD)/gen/store_schema.h ## check layers, headers, format, tests and scripts
	@ci/check_layers.sh
	@ci/check_tests.sh
	@ci/check_format.sh
	@ci/check_headers.sh $(CC) $(filter-out -MMD -MP,$(HARNESS_CFLAGS)) -Wno-unused-function
	@if command -v shellcheck >/dev/null; then shellcheck -x ci/*.sh .ci/run reports/page/web/*.sh tests/fuzz/*.sh tests/soak/*.sh tests/soak/*.bash tests/pmu/*.sh bench/*.sh; else echo 'no shellcheck: scripts are not checked'; fi

format: ## write C files as clang-format 14 does
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

# ---- installing ----
PREFIX  ?= /usr/local
DESTDIR ?=
# one word of the shell, whatever the line holds
quote = '$(subst ','\'',$(1))'
I = $(call quote,$(DESTDIR)$(PREFIX))
# The man page is made from the help texts. An installation goes without it where help2man is missing.
HELP2MAN = $(shell command -v help2man)
man_page = ci/man_page.sh $(BUILD)/bin/assay $(VERSION) > $(BUILD)/assay.1.tmp && mv $(BUILD)/assay.1.tmp $(BUILD)/assay.1
man: all ## write the man page build/assay.1, with help2man
	$(say)$(man_page)
install: all ## install to PREFIX (/usr/local) below DESTDIR
	@$(MAKE) --no-print-directory install-files
install-files:
	install -d $(I)/bin $(I)/lib/assay/plugins $(I)/lib/pkgconfig $(I)/include/assay $(I)/share/man/man1 \
		$(I)/share/assay/bench/suites $(I)/share/assay/bench/groups $(I)/share/assay/baselines/exact \
		$(I)/share/assay/templates
	install -m 755 $(BUILD)/bin/assay $(I)/bin/
	install -m 755 ci/gate.sh $(I)/bin/assay-gate
	install -m 755 $(PLUGINS) $(I)/lib/assay/plugins/
	$(if $(KERNEL_COSTS),install -m 644 $(KERNEL_COSTS) $(I)/lib/assay/plugins/)
	$(if $(HEAP_LIB) $(GPU_LIB),install -m 755 $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(I)/lib/assay/)
	install -m 644 harness/include/assay/*.h $(I)/include/assay/
	{ printf 'prefix=%s\n' $(call quote,$(PREFIX)); sed 's|@VERSION@|$(VERSION)|' harness/cli/assay.pc.in; } > $(I)/lib/pkgconfig/assay.pc
	$(if $(HELP2MAN),$(man_page) && install -m 644 $(BUILD)/assay.1 $(I)/share/man/man1/,@echo 'no help2man: the man page is left out')
	install -m 644 bench/*.bench $(I)/share/assay/bench/
	install -m 644 bench/suites/*.suite $(I)/share/assay/bench/suites/
	install -m 644 bench/groups/*.group $(I)/share/assay/bench/groups/
	install -m 644 baselines/*.* $(I)/share/assay/baselines/
	install -m 644 baselines/exact/*.json $(I)/share/assay/baselines/exact/
	install -m 644 ci/templates/*.yml $(I)/share/assay/templates/

.SECONDARY:
-include $(shell find $(BUILD)/obj $(BUILD)/tests -name '*.d' 2>/dev/null)
