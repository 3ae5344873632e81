/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the CPU can do, by the names of /proc/cpuinfo; CPUID and XCR0 stand in where that file is missing or says too
 * much.
 */
#include "machine/cpu_features.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/isa_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The features by which kernels of this kind choose their code, in the order shown. */
static const char *const kernel_features[] = {
	"sse4_2",      "avx",         "f16c",          "fma",
	"avx2",        "avx_vnni",    "avx_vnni_int8", "avx512f",
	"avx512bw",    "avx512dq",    "avx512vl",      "avx512_vnni",
	"avx512_bf16", "avx512_fp16", "avx512vbmi",    "avx512_vpopcntdq",
	"gfni",        "amx_tile",    "amx_int8",      "amx_bf16",
	"asimd",       "asimdhp",     "asimddp",       "i8mm",
	"bf16",        "sve",         "sve2",          "svei8mm",
	"sme",
};

#if defined(__x86_64__)
enum cpuid_register {
	REG_EBX,
	REG_ECX,
	REG_EDX,
	REG_EAX,
};

/* Register sets the operating system has to save, as bits of XCR0. */
#define XCR0_YMM  0x06u
#define XCR0_ZMM  0xe6u
#define XCR0_TILE 0x60000u

/* Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E. */
static const struct {
	const char *name;
	unsigned leaf, subleaf, reg, bit, xcr0;
} cpuid_features[] = {
	{ "ssse3", 1, 0, REG_ECX, 9, 0 },
	{ "fma", 1, 0, REG_ECX, 12, XCR0_YMM },
	{ "sse4_1", 1, 0, REG_ECX, 19, 0 },
	{ "sse4_2", 1, 0, REG_ECX, 20, 0 },
	{ "popcnt", 1, 0, REG_ECX, 23, 0 },
	{ "avx", 1, 0, REG_ECX, 28, XCR0_YMM },
	{ "f16c", 1, 0, REG_ECX, 29, XCR0_YMM },
	{ "hypervisor", 1, 0, REG_ECX, 31, 0 },
	{ "bmi1", 7, 0, REG_EBX, 3, 0 },
	{ "avx2", 7, 0, REG_EBX, 5, XCR0_YMM },
	{ "bmi2", 7, 0, REG_EBX, 8, 0 },
	{ "avx512f", 7, 0, REG_EBX, 16, XCR0_ZMM },
	{ "avx512dq", 7, 0, REG_EBX, 17, XCR0_ZMM },
	{ "avx512cd", 7, 0, REG_EBX, 28, XCR0_ZMM },
	{ "avx512bw", 7, 0, REG_EBX, 30, XCR0_ZMM },
	{ "avx512vl", 7, 0, REG_EBX, 31, XCR0_ZMM },
	{ "avx512vbmi", 7, 0, REG_ECX, 1, XCR0_ZMM },
	{ "avx512_vbmi2", 7, 0, REG_ECX, 6, XCR0_ZMM },
	{ "gfni", 7, 0, REG_ECX, 8, 0 },
	{ "vaes", 7, 0, REG_ECX, 9, XCR0_YMM },
	{ "vpclmulqdq", 7, 0, REG_ECX, 10, XCR0_YMM },
	{ "avx512_vnni", 7, 0, REG_ECX, 11, XCR0_ZMM },
	{ "avx512_bitalg", 7, 0, REG_ECX, 12, XCR0_ZMM },
	{ "avx512_vpopcntdq", 7, 0, REG_ECX, 14, XCR0_ZMM },
	{ "avx512_fp16", 7, 0, REG_EDX, 23, XCR0_ZMM },
	{ "amx_bf16", 7, 0, REG_EDX, 22, XCR0_TILE },
	{ "amx_tile", 7, 0, REG_EDX, 24, XCR0_TILE },
	{ "amx_int8", 7, 0, REG_EDX, 25, XCR0_TILE },
	{ "avx_vnni", 7, 1, REG_EAX, 4, XCR0_YMM },
	{ "avx512_bf16", 7, 1, REG_EAX, 5, XCR0_ZMM },
	{ "avx_vnni_int8", 7, 1, REG_EDX, 4, XCR0_YMM },
};

static unsigned read_xcr0(void)
{
	unsigned a, b, c, d, lo, hi;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return lo;
}

static void flags_from_cpuid(struct assay_cpu_features *f)
{
	for (size_t i = 0; i < sizeof(cpuid_features) / sizeof(cpuid_features[0]); i++) {
		unsigned r[4];

		if (__get_cpuid_count(cpuid_features[i].leaf, cpuid_features[i].subleaf, &r[REG_EAX], &r[REG_EBX],
				      &r[REG_ECX], &r[REG_EDX]) &&
		    r[cpuid_features[i].reg] >> cpuid_features[i].bit & 1) {
			size_t len = strlen(f->flags);

			snprintf(f->flags + len, sizeof(f->flags) - len, "%s%s ", len ? "" : " ",
				 cpuid_features[i].name);
		}
	}
}

static void model_from_cpuid(struct assay_cpu_features *f)
{
	unsigned brand[13] = { 0 };

	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
				 &brand[4 * i + 3]))
			return;
	snprintf(f->model, sizeof(f->model), "%s", (const char *)brand);
}

static void complete_from_cpu(struct assay_cpu_features *f)
{
	unsigned xcr0 = read_xcr0();

	if (!f->flags[0])
		flags_from_cpuid(f);
	if (!f->model[0])
		model_from_cpuid(f);
	for (size_t i = 0; i < sizeof(cpuid_features) / sizeof(cpuid_features[0]); i++)
		if ((xcr0 & cpuid_features[i].xcr0) != cpuid_features[i].xcr0)
			assay_cpu_features_drop(f, cpuid_features[i].name);
}
#else
static void complete_from_cpu(struct assay_cpu_features *f)
{
	(void)f;
}
#endif

/* Value of the first "key<blanks>: value" line; false when there is none. */
static bool field(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	out[0] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *p;

		line += *line == '\n';
		if (strncmp(line, key, len))
			continue;
		p = line + len + strspn(line + len, " \t");
		if (*p++ != ':')
			continue;
		p += strspn(p, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
		return out[0] != '\0';
	}
	return false;
}

/* Cores of servers and boards by part number (Arm: MIDR_EL1); others are shown by their numbers. */
static void arm_model(const char *text, struct assay_cpu_features *f)
{
	static const struct {
		const char *implementer, *part, *name;
	} known[] = {
		{ "0x41", "0xd0c", "Arm Neoverse N1" }, { "0x41", "0xd40", "Arm Neoverse V1" },
		{ "0x41", "0xd49", "Arm Neoverse N2" }, { "0x41", "0xd4f", "Arm Neoverse V2" },
		{ "0x41", "0xd08", "Arm Cortex-A72" },  { "0x41", "0xd0b", "Arm Cortex-A76" },
		{ "0xc0", "0xac3", "Ampere-1" },        { "0xc0", "0xac4", "Ampere-1A" },
	};
	char implementer[12], part[12], variant[12], revision[12];

	if (!field(text, "CPU implementer", implementer, sizeof(implementer)) ||
	    !field(text, "CPU part", part, sizeof(part)))
		return;
	snprintf(f->model, sizeof(f->model), "Arm implementer %s part %s", implementer, part);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].implementer, implementer) && !strcmp(known[i].part, part))
			snprintf(f->model, sizeof(f->model), "%s", known[i].name);
	if (field(text, "CPU variant", variant, sizeof(variant)) &&
	    field(text, "CPU revision", revision, sizeof(revision)))
		snprintf(f->stepping, sizeof(f->stepping), "variant %s revision %s", variant, revision);
}

static void parse(struct assay_cpu_features *f, const char *text)
{
	char flags[sizeof(f->flags) - 2], family[12], model[12], stepping[12];

	if (field(text, "flags", flags, sizeof(flags)) || field(text, "Features", flags, sizeof(flags)))
		snprintf(f->flags, sizeof(f->flags), " %s ", flags);
	if (!field(text, "model name", f->model, sizeof(f->model)))
		arm_model(text, f);
	if (field(text, "cpu family", family, sizeof(family)) && field(text, "model", model, sizeof(model)) &&
	    field(text, "stepping", stepping, sizeof(stepping)))
		snprintf(f->stepping, sizeof(f->stepping), "family %s model %s stepping %s", family, model, stepping);
	field(text, "microcode", f->microcode, sizeof(f->microcode));
}

/* The first CPU's block is enough, and reading all of it makes some kernels interrupt every CPU. */
static void read_first_block(char *buf, size_t size)
{
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	size_t len = 0;

	while (fd >= 0 && len + 1 < size && (n = read(fd, buf + len, size - 1 - len)) > 0) {
		len += (size_t)n;
		buf[len] = '\0';
		if (strstr(buf, "\n\n"))
			break;
	}
	if (fd >= 0)
		close(fd);
	buf[len] = '\0';
}

void assay_cpu_features_load(struct assay_cpu_features *f, const char *cpuinfo)
{
	char buf[16384];

	memset(f, 0, sizeof(*f));
	if (cpuinfo) {
		parse(f, cpuinfo);
		return;
	}
	read_first_block(buf, sizeof(buf));
	parse(f, buf);
	complete_from_cpu(f);
}

/* Where " name " stands in the flags. */
static const char *find_flag(const char *flags, const char *name, size_t len)
{
	char word[80];

	if (!len || len + 3 > sizeof(word) || memchr(name, ' ', len))
		return NULL;
	snprintf(word, sizeof(word), " %.*s ", (int)len, name);
	return strstr(flags, word);
}

bool assay_cpu_features_has(const struct assay_cpu_features *f, const char *name)
{
	return find_flag(f->flags, name, strlen(name)) != NULL;
}

void assay_cpu_features_drop(struct assay_cpu_features *f, const char *name)
{
	size_t len = strlen(name);
	const char *found = find_flag(f->flags, name, len);
	char *at = f->flags + (found ? found - f->flags : 0);

	if (found)
		memmove(at + 1, at + len + 2, strlen(at + len + 2) + 1);
}

bool assay_cpu_features_has_all(const struct assay_cpu_features *f, const char *needs, char *missing, size_t size)
{
	const char *p = needs;

	if (missing && size)
		missing[0] = '\0';
	while (p && *p) {
		size_t len;

		p += strspn(p, ", ");
		len = strcspn(p, ", ");
		if (len && !find_flag(f->flags, p, len)) {
			if (missing && size)
				snprintf(missing, size, "%.*s", (int)len, p);
			return false;
		}
		p += len;
	}
	return true;
}

void assay_cpu_features_list(const struct assay_cpu_features *f, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(kernel_features) / sizeof(kernel_features[0]) && len < size; i++)
		if (assay_cpu_features_has(f, kernel_features[i]))
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "", kernel_features[i]);
}

void assay_cpu_identity(struct assay_cpu_identity *out)
{
	struct assay_cpu_features f;

	assay_cpu_features_load(&f, NULL);
	memset(out, 0, sizeof(*out));
	memcpy(out->model, f.model, sizeof(out->model));
	memcpy(out->stepping, f.stepping, sizeof(out->stepping));
	memcpy(out->microcode, f.microcode, sizeof(out->microcode));
	assay_cpu_features_list(&f, out->features, sizeof(out->features));
}

/* ---- isa ---- */

/* Which CPU features an instruction set of assay/isa_table.h has. Knows no CPU. */

#define ROW(name, arch, vector_bits, flags, needs, also) { #name, arch, vector_bits, needs, also },
static const struct {
	const char *name, *arch; /* "": any architecture */
	unsigned vector_bits;
	const char *needs, *also; /* comma separated */
} sets[] = { ASSAY_ISA_SETS(ROW) };

#define N_SETS ((int)(sizeof(sets) / sizeof(sets[0])))

static int find(const char *isa)
{
	for (int i = 0; i < N_SETS; i++)
		if (!strcmp(sets[i].name, isa))
			return i;
	return -1;
}

int assay_isa_check(const char *isa, const char *what, struct assay_err *err)
{
	char names[256] = "";
	size_t len = 0;

	if (find(isa) >= 0)
		return 0;
	for (int i = 0; i < N_SETS; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
					!i                ? ""
					: i == N_SETS - 1 ? " or "
							  : ", ",
					sets[i].name);
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected %s", what, isa, names);
}

bool assay_isa_holds(const char *isa, const char *needs, char *beyond, size_t size)
{
	struct assay_cpu_features f;
	int i = find(isa);

	snprintf(f.flags, sizeof(f.flags), " %s,%s ", sets[i].needs, sets[i].also);
	for (char *comma = f.flags; (comma = strchr(comma, ','));)
		*comma = ' ';
	return assay_cpu_features_has_all(&f, needs, beyond, size);
}

const char *assay_isa_arch(const char *needs)
{
	char first[64];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(needs ? needs : "", ","), needs ? needs : "");
	for (int i = 0; first[0] && i < N_SETS; i++)
		if (sets[i].arch[0] && assay_isa_holds(sets[i].name, first, NULL, 0))
			return sets[i].arch;
	return NULL;
}

unsigned assay_isa_vector_bits(const char *isa)
{
	return sets[find(isa)].vector_bits;
}
