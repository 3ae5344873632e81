# SPDX-License-Identifier: Apache-2.0
# Plugins: bench/ becomes ops.so; each kernels/<family> one object of variants, and its variants by a library that is found at run
# time, <family>_<library>.c, another for each.
OPS_SRCS := $(filter-out bench/peers/%,$(sort $(wildcard bench/*.c bench/*/*.c)))
# Libraries of others as variants, which are loaded where a command names the plugin.
# oneDNN's only where the compiler finds its headers.
ONEDNN_H := $(shell $(CC) -E -include oneapi/dnnl/dnnl.h -x c /dev/null >/dev/null 2>&1 && echo 1)
PEERS := $(patsubst bench/peers/%.c,$(BUILD)/peers/%.so,$(filter-out $(if $(ONEDNN_H),,%/onednn.c),$(wildcard bench/peers/*.c)))
FAMILIES := $(filter-out cuda,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard kernels/*/*_plugin.c))))))
family_srcs = $(sort $(filter-out %_openblas.c %_onednn.c,$(wildcard kernels/$(1)/*.c)))
LIBRARY_VARIANTS := $(patsubst kernels/%.c,%,$(wildcard kernels/*/*_openblas.c kernels/*/*_onednn.c))
library_plugin = $(BUILD)/plugins/$(subst _,-,$(notdir $(1))).so
# Families whose libraries or files are found at run time: a name with a hyphen makes their cases optional in manifests.
family_plugin = $(BUILD)/plugins/$(1)$(if $(filter compress llama,$(1)),-libraries)$(if $(filter generate,$(1)),-files).so

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

PLUGINS := $(BUILD)/plugins/ops.so $(foreach f,$(FAMILIES),$(call family_plugin,$(f))) \
	$(foreach v,$(filter-out $(if $(filter 0,$(OPENBLAS)),%_openblas),$(LIBRARY_VARIANTS)),$(call library_plugin,$(v))) \
	$(if $(filter-out 0,$(CUDA)),$(BUILD)/plugins/assay_cuda.so)
KERNEL_COSTS := $(if $(NVCC),$(BUILD)/plugins/assay_cuda.kernels.json)

# Variants, and parts of an op, are compiled for the instruction set that their file name ends in; the CPU is asked before they
# are called. assay/isa_table.h has the flags of each, as NAME=FLAG,FLAG here.
ISA_TABLE := harness/include/assay/isa_table.h
ISA_FLAGS := $(shell sed -n 's/^ISA.\([a-z0-9]*\), "$(ARCH)", [0-9]*, "\([^"]*\)",.*/\1=\2/p' $(ISA_TABLE) | tr ' ' ,)
isa = $(lastword $(subst _, ,$(basename $(1))))
isa_flags = $(subst $(comma), ,$(patsubst $(isa)=%,%,$(filter $(isa)=%,$(ISA_FLAGS))))

# Files of models are read by plugins and by the program, from one source.
GGUF_OBJS := $(patsubst %.c,$(BUILD)/obj/plugin/%.o,$(sort $(wildcard harness/gguf/*.c)))
$(GGUF_OBJS): $(BUILD)/obj/plugin/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(PLUGIN_CFLAGS) -Iharness -c -o $@ $<
$(BUILD)/obj/bench/%.o $(BUILD)/obj/kernels/generate/%.o $(BUILD)/obj/kernels/llama/%.o: private PLUGIN_CFLAGS += -Iharness
$(BUILD)/obj/bench/%.o: private PLUGIN_CFLAGS += -I.
$(BUILD)/obj/bench/%.o: bench/%.c $(BUILD)/flags $(ISA_TABLE)
	@mkdir -p $(@D)
	$(say)$(CC) $(PLUGIN_CFLAGS) $(call isa_flags,$(notdir $<)) -c -o $@ $<
$(BUILD)/obj/kernels/%.o: kernels/%.c $(BUILD)/flags $(ISA_TABLE)
	@mkdir -p $(@D)
	$(say)$(CC) $(PLUGIN_CFLAGS) $(call isa_flags,$(notdir $<)) -c -o $@ $<

link_plugin = $(CC) $(SANFLAGS) $(LDFLAGS) -shared -Wl,--build-id $(PLUGIN_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/plugins/ops.so: $(OPS_SRCS:%.c=$(BUILD)/obj/%.o) $(GGUF_OBJS)
	@mkdir -p $(@D)
	$(say)$(link_plugin) -lm -ldl

$(BUILD)/peers/%.so: $(BUILD)/obj/bench/peers/%.o
	@mkdir -p $(@D)
	$(say)$(link_plugin) -ldl $(if $(filter %/onednn.so,$@),-ldnnl)

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
$(call family_plugin,$(1)): $(patsubst %.c,$(BUILD)/obj/%.o,$(call family_srcs,$(1))) $(if $(filter generate,$(1)),$(filter %/types.o,$(GGUF_OBJS))) $(if $(filter llama,$(1)),$(GGUF_OBJS))
	@mkdir -p $$(@D)
	$$(say)$$(link_plugin) -lm -ldl
endef
$(foreach f,$(FAMILIES),$(eval $(call family_rules,$(f))))
define library_rules
$(call library_plugin,$(1)): $(BUILD)/obj/kernels/$(1).o
	@mkdir -p $$(@D)
	$$(say)$$(link_plugin) -ldl
endef
$(foreach v,$(LIBRARY_VARIANTS),$(eval $(call library_rules,$(v))))
