# SPDX-License-Identifier: Apache-2.0
# assay: `make bench` measures, `make test` tests; `make help` lists the rest.

# The version is the last tag's, with the number of commits since then. An archive of `make dist` brings it in a file.
VERSION  := $(firstword $(file <.version))
VERSION  := $(or $(VERSION),$(subst -,+,$(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null))),1.0.0)
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
HTTP     ?= auto
OPENBLAS ?= 1

# Sanitized objects live beside the normal ones, never among them.
comma := ,
BUILD ?= build$(if $(SANITIZE),/san-$(subst $(comma),-,$(SANITIZE)))
# A folder of the tree has one name: with another its objects would have other flags and be compiled again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))

# ---- packages: looked for before anything asks pkg-config; only `make bench`, `test`, `test-pmu` and `deb` install what is missing ----
GOALS := $(or $(MAKECMDGOALS),all)
# `make` with nothing to compile needs none
NEEDS := $(if $(filter-out help clean format,$(GOALS)),build) $(if $(filter bench report test soak,$(GOALS)),run) \
	$(if $(filter test test-pmu unit-tests golden soak,$(GOALS)),test) $(if $(filter test-pmu,$(GOALS)),pmu) $(filter lint,$(GOALS)) \
	$(if $(filter test,$(GOALS)),install) $(filter deb,$(GOALS))
ifneq (,$(filter build,$(NEEDS)))
# Whoever writes yes must not get what another value stands for.
check = $(if $(and $(filter 1,$(words $($(1)))),$(filter $(2),$($(1)))),,$(error $(1) is '$($(1))', expected $(3)))
$(foreach name,V WERROR OPENBLAS,$(call check,$(name),0 1,0 or 1))
$(foreach name,PAPI VALGRIND CUDA ZYDIS LIBDW HTTP,$(call check,$(name),0 1 auto,0$(comma) 1 or auto))
SANITIZERS := address undefined thread leak fuzzer-no-link
$(if $(filter-out $(SANITIZERS),$(subst $(comma), ,$(SANITIZE))),$(error SANITIZE is '$(SANITIZE)', expected some of $(SANITIZERS), with commas))
ifeq (,$(findstring n,$(firstword -$(MAKEFLAGS))))
PACKAGES := $(shell ASSAY_NO_INSTALL='$(ASSAY_NO_INSTALL)' ASSAY_DEPS_STATE=$(BUILD)/packages-left-out \
	ci/deps.sh $(if $(filter bench test test-pmu deb,$(GOALS)),,--check) $(NEEDS) && echo ok)
ifneq (ok,$(PACKAGES))
$(error $(or $(PACKAGES),ci/deps.sh failed))
endif
endif
endif

# As many jobs as processors; a -j of the caller wins, and a make that another one started shares its jobs.
ifeq (0,$(MAKELEVEL))
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

say = $(if $(filter 1,$(V)),,@echo '  make  $(@:$(BUILD)/%=%)';)
.DEFAULT_GOAL := all
# What is built stands beside its sources; a copy of a part of the tree does without the others.
include $(wildcard ci/build.mk harness/harness.mk reports/reports.mk kernels/kernels.mk tests/tests.mk ci/install.mk)

.PHONY: all plugins help clean test unit-tests golden fuzz-targets soak soak-programs cross-tests test-pmu test-arm64 test-gpu bench gate compare report manifests lint format man install install-files dist deb FORCE
all: $(BUILD)/features $(BUILD)/bin/assay $(PLUGINS) $(PEERS) $(KERNEL_COSTS) $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(BUILD)/share/assay $(BUILD)/include ## build the program and its plugins
	@:

plugins: $(PLUGINS) $(KERNEL_COSTS) ## build the plugins alone, as `assay compare` does for a revision
	@:

help: ## show this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

clean: ## remove everything that was built
	rm -rf build

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
	@if command -v shellcheck >/dev/null; then shellcheck -x ci/*.sh .ci/run reports/page/web/*.sh tests/fuzz/*.sh tests/soak/soak.sh tests/pmu/*.sh bench/*.sh; else echo 'no shellcheck: scripts are not checked'; fi

format: ## write C files as clang-format 14 does
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

.SECONDARY:
-include $(shell find $(BUILD)/obj $(BUILD)/tests -name '*.d' 2>/dev/null)
