# SPDX-License-Identifier: Apache-2.0
# The program, the core that tests link, and what is loaded into other programs.
# Objects that are loaded into other programs: recorders of heaps, threads and GPUs.
LOADED := $(addprefix harness/counters/,preload waits injected)
CORE_SRCS := $(sort $(filter-out $(LOADED:%=%/%),$(foreach layer,base gguf model stats machine counters profile formats plan worker measure store judge drive,\
	$(wildcard harness/$(layer)/*.c harness/$(layer)/*/*.c)) $(wildcard reports/*.c reports/*/*.c)))
# Without libmicrohttpd only the file that says so.
CORE_SRCS += $(if $(HTTP_FOUND),$(sort $(wildcard harness/serve/*.c)),harness/serve/server.c)
CLI_SRCS  := $(sort $(wildcard harness/cli/*.c))
CORE_OBJS := $(CORE_SRCS:%.c=$(BUILD)/obj/%.o)
CLI_OBJS  := $(CLI_SRCS:%.c=$(BUILD)/obj/%.o)

# Loaded by CUDA's driver into programs of any kind.
GPU_LIB := $(BUILD)/lib/assay/assay-gpu.so
# Stands before malloc in a worker, which it cannot where a sanitizer does.
HEAP_LIB := $(if $(findstring address,$(SANITIZE))$(findstring thread,$(SANITIZE)),,$(BUILD)/lib/assay/assay-heap.so \
	$(BUILD)/lib/assay/assay-timers.so)
# Stands before the functions in which threads wait, as do sanitizers.
THREADS_LIB := $(if $(HEAP_LIB),$(BUILD)/lib/assay/assay-threads.so)
PRELOAD_CFLAGS = $(filter-out $(SANFLAGS),$(BASE_CFLAGS)) $(CFLAGS) $(HARDENING) -fPIC -fno-builtin -Iharness

# XXH3 reads its input 1.5 to 1.8 times as fast then, and a pair of a case in memory digests gigabytes.
$(BUILD)/obj/harness/base/hash.o: private HARNESS_CFLAGS += -O3
$(BUILD)/obj/harness/%.o: harness/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(HARNESS_CFLAGS) -c -o $@ $<

# The migrations of the store, in order, as C strings.
STORE_SQL := $(sort $(wildcard harness/store/schema/*.sql))
$(BUILD)/gen/store_schema.h: harness/store/schema/embed.awk $(STORE_SQL)
	@mkdir -p $(@D)
	$(say)awk -f $< $(STORE_SQL) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/store/migrate.o: $(BUILD)/gen/store_schema.h

# The templates of `assay new`, as C strings.
TEMPLATES := $(sort $(wildcard harness/drive/author/templates/*.in))
$(BUILD)/gen/new_templates.h: harness/drive/author/templates/embed.awk $(TEMPLATES)
	@mkdir -p $(@D)
	$(say)awk -f $< $(TEMPLATES) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/drive/author/template.o: $(BUILD)/gen/new_templates.h

# The dashboard, as C strings.
DASHBOARD := harness/serve/web/dashboard.html reports/page/web/page.css $(addprefix harness/serve/web/,uplot/uPlot.min.css dashboard.css uplot/uPlot.iife.min.js dashboard.js)
$(BUILD)/gen/dashboard_page.h: reports/page/web/embed.sh harness/drive/author/templates/embed.awk $(DASHBOARD)
	@mkdir -p $(@D)
	$(say)reports/page/web/embed.sh $(@D)/dashboard_page $(DASHBOARD) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/harness/serve/page.o: $(BUILD)/gen/dashboard_page.h

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
	$(BUILD)/obj/harness/counters/preload/recording.o
$(BUILD)/lib/assay/assay-threads.so: $(call preloaded,waits) \
	$(BUILD)/obj/harness/counters/preload/recording.o
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
