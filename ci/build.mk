# SPDX-License-Identifier: Apache-2.0
# Compilers, flags and optional libraries, and the files that tell of a change of them.
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
# Processes are watched, traced and preloaded as glibc has them, and addresses have 64 bits. A compiler that is missing says so itself.
ifneq (,$(filter build,$(NEEDS)))
POINTER := $(shell echo __SIZEOF_POINTER__ | $(CC) -E -P - 2>/dev/null)
$(if $(filter 4,$(POINTER)),$(error $(CC) compiles for 32 bits, and assay needs 64))
$(if $(filter 8,$(POINTER)),$(if $(filter __GLIBC__,$(shell echo __GLIBC__ | $(CC) -include features.h -E -P - 2>/dev/null | tail -n 1)),\
	$(error $(CC) compiles for another C library than glibc, such as musl, and assay needs glibc)))
endif

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

# libmicrohttpd gives its header here and is loaded by `assay serve`.
HTTP_FOUND := $(if $(filter 0,$(HTTP)),,$(shell pkg-config --modversion libmicrohttpd 2>/dev/null))
ifneq (,$(filter build,$(NEEDS)))
ifeq (1,$(HTTP)$(HTTP_FOUND))
$(error HTTP=1, but pkg-config does not find libmicrohttpd: install libmicrohttpd-dev or leave it at HTTP=auto)
endif
endif

# valgrind 3.19 gives up on the debug information that clang 14 writes unless it is told otherwise.
DEBUG_CFLAGS := $(shell $(CC) -fdebug-default-version=4 -fsyntax-only -x c /dev/null 2>/dev/null && echo -fdebug-default-version=4)
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE $(WARN) $(SANFLAGS) $(DEBUG_CFLAGS) -fvisibility=hidden -MMD -MP
# Packages harden the harness (ci/debian/rules). Kernels go without, since recorded counts hold for the flags of all others.
HARDENING ?=
HARNESS_CFLAGS = $(BASE_CFLAGS) $(CFLAGS) $(HARDENING) -DASSAY_PAPI=$(if $(PAPI_FOUND),1,0) -DASSAY_VALGRIND=$(if $(VALGRIND_FOUND),1,0) \
	-DASSAY_ZYDIS=$(if $(ZYDIS_FOUND),1,0) -DASSAY_LIBDW=$(if $(LIBDW_FOUND),1,0) -DASSAY_HTTP=$(if $(HTTP_FOUND),1,0) \
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
LDLIBS := $(PKG_LIBS) $(if $(ZYDIS_FOUND),-lZydis) $(if $(LIBDW_FOUND),-ldw) -lm -ldl -lpthread

# Which optional parts are in; printed when that changes.
FEATURES = PAPI $(if $(PAPI_FOUND),$(PAPI_FOUND),no $(if $(filter 0,$(PAPI)),(PAPI=0),headers (libpapi-dev): no hardware counters)); \
	valgrind $(if $(VALGRIND_FOUND),headers,no $(if $(filter 0,$(VALGRIND)),(VALGRIND=0),headers (valgrind): no exact counts)); \
	Zydis $(if $(ZYDIS_FOUND),found,no $(if $(filter 0,$(ZYDIS)),(ZYDIS=0),library (libzydis-dev): no exact counts by stepping)); \
	libdw $(if $(LIBDW_FOUND),$(LIBDW_FOUND),no $(if $(filter 0,$(LIBDW)),(LIBDW=0),headers (libdw-dev): no exact counts by stepping)); \
	libmicrohttpd $(if $(HTTP_FOUND),$(HTTP_FOUND),no $(if $(filter 0,$(HTTP)),(HTTP=0),headers (libmicrohttpd-dev): no assay serve)); \
	OpenBLAS $(if $(filter 0,$(OPENBLAS)),no (OPENBLAS=0),found when run); \
	CUDA $(if $(NVCC),$(NVCC),no $(if $(filter 0,$(CUDA)),(CUDA=0),nvcc: kernels for GPUs are not compiled)); compiler $(CC)$(if $(SANITIZE),; sanitizers $(SANITIZE))
$(BUILD)/features: FORCE
	@mkdir -p $(@D); echo '$(FEATURES)' | cmp -s - $@ || { echo '$(FEATURES)' > $@; echo '  with   $(FEATURES)'; }

# The sources and tools of this build, for the results that it will make.
$(BUILD)/gen/build_info.h: FORCE
	@mkdir -p $(@D); ci/build_info.sh '$(VERSION)' '$(firstword $(CC))' '$(CFLAGS) $(SANFLAGS) | plugins $(CFLAGS) -O3 -ffp-contract=off -fno-math-errno' \
		> $@.tmp; cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(BUILD)/obj/harness/drive/run/build_identity.o: $(BUILD)/gen/build_info.h

# Objects depend on a file that changes only when the compiler or its flags do.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(CC) $(HARNESS_CFLAGS) | $(PLUGIN_CFLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(HARNESS_CFLAGS) | $(PLUGIN_CFLAGS)' > $@
# Likewise of CUDA, whose compiler may come later.
$(BUILD)/flags-cuda: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(NVCC) $(NVCC_FLAGS) | $(CUDA_C_FLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(NVCC) $(NVCC_FLAGS) | $(CUDA_C_FLAGS)' > $@
