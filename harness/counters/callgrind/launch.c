/* SPDX-License-Identifier: Apache-2.0 */
/* Finding valgrind, and the command and environment under which two runs of the same code count the same. */
#include "counters/callgrind/callgrind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "counters/preloaded.h"

#if ASSAY_VALGRIND
#include <valgrind/callgrind.h>
#else
#define RUNNING_ON_VALGRIND             0
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_ZERO_STATS            ((void)0)
#define CALLGRIND_DUMP_STATS_AT(name)   ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION  ((void)0)
#endif

bool assay_callgrind_inside(void)
{
	return RUNNING_ON_VALGRIND != 0;
}

void assay_callgrind_start(void)
{
	CALLGRIND_START_INSTRUMENTATION;
}

void assay_callgrind_zero(void)
{
	CALLGRIND_ZERO_STATS;
}

void assay_callgrind_dump(bool check)
{
	if (check)
		CALLGRIND_DUMP_STATS_AT(ASSAY_CALLGRIND_CHECK);
	else
		CALLGRIND_DUMP_STATS_AT(ASSAY_CALLGRIND_RUN);
}

void assay_callgrind_stop(void)
{
	CALLGRIND_STOP_INSTRUMENTATION;
}

#define GET_IT "install the package valgrind"
/* Named cache levels on the command line and complete AVX2 came with it. */
#define LEAST_MAJOR        3
#define LEAST_MINOR        13
#define VERSION_TIMEOUT_NS 60000000000u /* a busy machine may not let it begin for long */

int assay_callgrind_check_version(const char *text, struct assay_err *err)
{
	unsigned major, minor;

	if (sscanf(text, "valgrind-%u.%u", &major, &minor) != 2)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "valgrind says '%.*s' instead of its version: " GET_IT,
				     (int)strcspn(text, "\n"), text);
	if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%.*s is too old: install valgrind %d.%d or later",
				     (int)strcspn(text, "\n"), text, LEAST_MAJOR, LEAST_MINOR);
	return 0;
}

int assay_callgrind_probe(char *version, size_t size, struct assay_err *err)
{
	static const char *const argv[] = { "valgrind", "--version", NULL };
	struct assay_err why = { 0 };
	char *text = NULL;
	int rc;

	if (ASSAY_SANITIZED_HEAP)
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"a program with the address sanitizer cannot run under valgrind: build without SANITIZE");
	rc = assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = VERSION_TIMEOUT_NS }, &text,
				   &why);
	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "valgrind is not installed: " GET_IT);
	if (rc)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "valgrind does not run: %s", why.text);
	rc = assay_callgrind_check_version(text, err);
	if (!rc && !ASSAY_VALGRIND)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE,
				   "this program was built without the headers of valgrind: " GET_IT
				   " and build again, without VALGRIND=0");
	if (!rc)
		snprintf(version, size, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return rc;
}

/* CPU features that kernels ask for by these names and that every supported version simulates. */
static const char *const known_features[] = {
#if defined(__x86_64__)
	"ssse3", "sse4_1", "sse4_2", "popcnt", "avx", "f16c", "fma", "bmi1", "bmi2", "avx2",
#elif defined(__aarch64__)
	"asimd",
#endif
	NULL,
};

static bool knows(const char *name, size_t len)
{
	for (size_t i = 0; known_features[i]; i++)
		if (strlen(known_features[i]) == len && !strncmp(known_features[i], name, len))
			return true;
	return false;
}

bool assay_callgrind_knows(const char *needs, char *unknown, size_t size)
{
	for (const char *p = needs; p && *p;) {
		size_t len;

		p += strspn(p, ", ");
		len = strcspn(p, ", ");
		if (len && !knows(p, len)) {
			if (unknown)
				snprintf(unknown, size, "%.*s", (int)len, p);
			return false;
		}
		p += len;
	}
	return true;
}

void assay_callgrind_cap(const char *features, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (const char *p = features; *p;) {
		size_t len;

		p += strspn(p, ", ");
		len = strcspn(p, ", ");
		if (len && knows(p, len) && at + len + 2 < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%.*s", at ? "," : "", (int)len, p);
		p += len;
	}
}

/*
 * Settings that decide the code of libraries. glibc: valgrind shows it one CPU everywhere, but features the real one
 * lacks, and this CPU is to look the same where a worker is stepped; the thresholds would follow from cache sizes.
 * OpenBLAS knows more CPUs than valgrind shows it.
 */
static const char *const pinned[] = {
#if defined(__x86_64__)
	"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-RTM,-Prefer_No_VZEROUPPER:"
	"glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x1000:"
	"glibc.cpu.x86_rep_stosb_threshold=0x1000",
	"OPENBLAS_CORETYPE=Haswell",
#elif defined(__aarch64__)
	"GLIBC_TUNABLES=glibc.cpu.name=generic",
	"OPENBLAS_CORETYPE=ARMV8",
#endif
	"OPENBLAS_NUM_THREADS=1",
	/* hwloc's part that asks the CPU itself only complains under valgrind */
	"HWLOC_COMPONENTS=-x86",
	"LC_ALL=C",
};

#define N_PINNED (sizeof(pinned) / sizeof(pinned[0]))

void assay_callgrind_environment(char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < N_PINNED && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? " " : "", pinned[i]);
}

static void level_option(char *buf, size_t size, const char *name, const struct assay_cache_level *l)
{
	snprintf(buf, size, "--%s=%llu,%u,%u", name, (unsigned long long)l->bytes, l->ways, l->line_bytes);
}

/* In names of files valgrind replaces %p and %q{NAME}, and dies of any other % but a doubled one. */
static void path_option(char *buf, size_t size, const char *name, const char *path)
{
	size_t at = (size_t)snprintf(buf, size, "--%s=", name);

	for (; *path && at + 2 < size; path++) {
		buf[at++] = *path;
		if (*path == '%')
			buf[at++] = '%';
	}
	buf[at] = '\0';
}

void assay_callgrind_command(struct assay_callgrind_command *c, const struct assay_cache_model *model,
			     const char *out_path, const char *log_path)
{
	const char *const options[] = {
		"valgrind",
		"--tool=callgrind",
		"--vgdb=no",
		"--trace-children=no",
		"--run-libc-freeres=no",
		/* only around the run that counts */
		"--instr-atstart=no",
		"--cache-sim=yes",
		"--branch-sim=yes",
		/* one file; it knows no lines of a plugin that keeps a section a function */
		"--combine-dumps=yes",
		"--dump-line=yes",
		"--dump-instr=no",
		"--separate-recs=1",
		/* code of a PLT would be counted twice */
		"--skip-plt=no",
		c->i1,
		c->d1,
		c->ll,
		c->out,
		c->log,
		NULL,
	};
	const char *libraries = getenv("LD_LIBRARY_PATH");
	size_t n = 0;

	level_option(c->i1, sizeof(c->i1), "I1", &model->i1);
	level_option(c->d1, sizeof(c->d1), "D1", &model->d1);
	level_option(c->ll, sizeof(c->ll), "LL", &model->ll);
	path_option(c->out, sizeof(c->out), "callgrind-out-file", out_path);
	path_option(c->log, sizeof(c->log), "log-file", log_path);
	memcpy(c->prefix, options, sizeof(options));
	for (; n < N_PINNED; n++)
		c->env[n] = pinned[n];
	if (libraries) {
		snprintf(c->library_path, sizeof(c->library_path), "LD_LIBRARY_PATH=%.4095s", libraries);
		c->env[n++] = c->library_path;
	}
	c->env[n] = NULL;
}
