/* SPDX-License-Identifier: Apache-2.0 */
/* By elfutils' libdwfl, which reads a file when the first address in it is asked for. */
#include "profile/code_places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if ASSAY_LIBDW
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include "base/grow.h"
#include "base/text.h"

struct assay_code_places {
	Dwfl *dwfl;
	bool of_source; /* names are demangled */
	char **names;   /* that were */
	size_t n_names;
};

Dwfl *assay_code_places_dwfl(struct assay_code_places *p)
{
	return p->dwfl;
}

static int no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
			 const char *link, GElf_Word crc, char **out)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)out;
	return -1;
}

int assay_code_places_probe(struct assay_err *err)
{
	(void)err;
	return 0;
}

static const Dwfl_Callbacks own_alone = { .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = no_debug_file };
/* libdw loads libdebuginfod only where DEBUGINFOD_URLS is set */
static const Dwfl_Callbacks as_perf = { .find_elf = dwfl_linux_proc_find_elf,
					.find_debuginfo = dwfl_standard_find_debuginfo };

static int begin(struct assay_code_places **out, bool of_source, struct assay_err *err)
{
	struct assay_code_places *p = calloc(1, sizeof(*p));

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the places of code");
	p->of_source = of_source;
	p->dwfl = dwfl_begin(of_source ? &as_perf : &own_alone);
	if (!p->dwfl) {
		assay_err_set(err, ASSAY_EIO, "cannot tell which files are mapped: %s", dwfl_errmsg(-1));
		assay_code_places_close(p);
		return ASSAY_EIO;
	}
	*out = p;
	return 0;
}

int assay_code_places_open_empty(struct assay_code_places **out, struct assay_err *err)
{
	return begin(out, true, err);
}

int assay_code_places_open(struct assay_code_places **out, struct assay_err *err)
{
	int rc = begin(out, false, err);

	if (rc)
		return rc;
	if (dwfl_linux_proc_report((*out)->dwfl, getpid()) || dwfl_report_end((*out)->dwfl, NULL, NULL)) {
		assay_err_set(err, ASSAY_EIO, "cannot tell which files are mapped: %s", dwfl_errmsg(-1));
		assay_code_places_close(*out);
		*out = NULL;
		return ASSAY_EIO;
	}
	return 0;
}

/* The offset that is added to addresses in the file, by the segment that begins in the page of @file_offset. */
static bool find_bias(const char *path, uint64_t start, uint64_t file_offset, uint64_t *bias)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr e;
	Elf64_Phdr h;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &e, sizeof(e), 0) != (ssize_t)sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(h))
		e.e_phnum = 0;
	for (unsigned i = 0; i < e.e_phnum && !found; i++) {
		if (pread(fd, &h, sizeof(h), (off_t)(e.e_phoff + i * sizeof(h))) != (ssize_t)sizeof(h))
			break;
		if (h.p_type != PT_LOAD || !(h.p_flags & PF_X) || h.p_offset + h.p_filesz <= file_offset)
			continue;
		found = true;
		*bias = start - file_offset - (h.p_vaddr - h.p_offset);
	}
	close(fd);
	return found;
}

bool assay_code_places_map(struct assay_code_places *p, const char *path, uint64_t start, uint64_t file_offset)
{
	const char *slash = strrchr(path, '/');
	uint64_t bias = 0;
	bool ok;

	if (dwfl_addrmodule(p->dwfl, start))
		return true;
	if (!find_bias(path, start, file_offset, &bias))
		return false;
	dwfl_report_begin_add(p->dwfl);
	ok = dwfl_report_elf(p->dwfl, slash ? slash + 1 : path, path, -1, bias, true) != NULL;
	return !dwfl_report_end(p->dwfl, NULL, NULL) && ok;
}

void assay_code_places_close(struct assay_code_places *p)
{
	if (!p)
		return;
	if (p->dwfl)
		dwfl_end(p->dwfl);
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->names);
	free(p);
}

/* "" of none. */
static const char *name_of(struct assay_code_places *p, const char *symbol)
{
	char *name = p->of_source && symbol ? assay_demangle(symbol) : NULL;

	if (name && assay_grow(&p->names, p->n_names, sizeof(*p->names))) {
		free(name);
		name = NULL;
	}
	if (name)
		p->names[p->n_names++] = name;
	return name ? name : symbol ? symbol : "";
}

/* Intrinsics and the like: functions of headers that come with the compiler or the system. */
static bool is_of_system(const char *path)
{
	return !strncmp(path, "/usr/", strlen("/usr/")) || strstr(path, "/lib/gcc/") || strstr(path, "/lib/clang/");
}

/* Where the function was called into which @scope was inlined. */
static const char *called_at(Dwarf_Die *unit, Dwarf_Die *scope, int *line)
{
	Dwarf_Attribute file, number;
	Dwarf_Word i, n;
	Dwarf_Files *files;
	size_t n_files;

	if (dwarf_tag(scope) != DW_TAG_inlined_subroutine ||
	    dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &file), &i) ||
	    dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &number), &n) ||
	    dwarf_getsrcfiles(unit, &files, &n_files) || i >= n_files)
		return NULL;
	*line = (int)n;
	return dwarf_filesrc(files, i, NULL, NULL);
}

/* The nearest line of whoever wrote the kernel, from the innermost function that was inlined there outwards. */
static const char *leave_system(Dwfl_Module *m, uint64_t address, const char *path, int *line)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(m, address, &bias), *scopes = NULL;
	int n = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

	for (int i = 0; i < n && is_of_system(path); i++) {
		const char *outer = called_at(unit, &scopes[i], line);

		path = outer ? outer : path;
	}
	free(scopes);
	return path;
}

static void name_file(struct assay_code_place *at, const char *path, int line)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path || line <= 0)
		return;
	at->file = slash ? slash + 1 : path;
	at->line = (unsigned)line;
}

static void find_line(Dwfl_Module *m, uint64_t address, struct assay_code_place *at)
{
	Dwfl_Line *l = dwfl_module_getsrc(m, address);
	const char *path;
	int line = 0;

	path = l ? dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL) : NULL;
	if (path && is_of_system(path))
		path = leave_system(m, address, path, &line);
	name_file(at, path, line);
}

struct assay_code_place assay_code_places_find(struct assay_code_places *p, uint64_t address)
{
	struct assay_code_place at = { "", "", "", 0 };
	Dwfl_Module *m = dwfl_addrmodule(p->dwfl, address);
	const char *name, *path = NULL;
	GElf_Off offset;
	GElf_Sym symbol;

	if (!m)
		return at;
	name = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, &path, NULL);
	path = path ? path : name;
	at.object = path ? path : "";
	name = dwfl_module_addrinfo(m, address, &offset, &symbol, NULL, NULL, NULL);
	at.function = name_of(p, name);
	find_line(m, address, &at);
	return at;
}

/* Of an inlined function: with its namespace and class where the compiler told a symbol. */
static const char *inlined_name(struct assay_code_places *p, Dwarf_Die *scope)
{
	Dwarf_Attribute a;
	const char *symbol =
		p->of_source ? dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &a)) : NULL;

	return symbol ? name_of(p, symbol) : dwarf_diename(scope) ? dwarf_diename(scope) : "";
}

size_t assay_code_places_inlined(struct assay_code_places *p, uint64_t address, struct assay_code_place *out,
				 size_t most, uint64_t *offset)
{
	struct assay_code_place whole = assay_code_places_find(p, address);
	Dwfl_Module *m = dwfl_addrmodule(p->dwfl, address);
	Dwarf_Addr bias = 0, elf_bias = 0;
	Dwarf_Die *unit = m ? dwfl_module_addrdie(m, address, &bias) : NULL, *scopes = NULL, *chain = NULL;
	int n = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0, line = 0;
	size_t n_out = 0;

	*offset = m && dwfl_module_getelf(m, &elf_bias) ? address - elf_bias : address;
	n = n > 0 ? dwarf_getscopes_die(&scopes[0], &chain) : 0;
	for (int i = 0; i < n && n_out + 1 < most; i++) {
		const char *declared, *outer;

		if (dwarf_tag(&chain[i]) != DW_TAG_inlined_subroutine)
			continue;
		declared = dwarf_decl_file(&chain[i]);
		outer = called_at(unit, &chain[i], &line);
		if (declared && is_of_system(declared))
			continue; /* its line is that of the call already, see leave_system() */
		out[n_out++] =
			(struct assay_code_place){ inlined_name(p, &chain[i]), whole.object, whole.file, whole.line };
		if (outer)
			name_file(&whole, outer, line);
	}
	free(scopes);
	free(chain);
	out[n_out++] = whole;
	return n_out;
}

#else

int assay_code_places_probe(struct assay_err *err)
{
	return assay_err_set(
		err, ASSAY_EUNAVAILABLE,
		"this program was built without libdw: install libdw-dev and build again, without LIBDW=0");
}

int assay_code_places_open(struct assay_code_places **out, struct assay_err *err)
{
	(void)out;
	return assay_code_places_probe(err);
}

int assay_code_places_open_empty(struct assay_code_places **out, struct assay_err *err)
{
	(void)out;
	return assay_code_places_probe(err);
}

bool assay_code_places_map(struct assay_code_places *p, const char *path, uint64_t start, uint64_t file_offset)
{
	(void)p;
	(void)path;
	(void)start;
	(void)file_offset;
	return false;
}

void assay_code_places_close(struct assay_code_places *p)
{
	(void)p;
}

size_t assay_code_places_inlined(struct assay_code_places *p, uint64_t address, struct assay_code_place *out,
				 size_t most, uint64_t *offset)
{
	(void)most;
	*offset = address;
	out[0] = assay_code_places_find(p, address);
	return 1;
}

struct assay_code_place assay_code_places_find(struct assay_code_places *p, uint64_t address)
{
	(void)p;
	(void)address;
	return (struct assay_code_place){ "", "", "", 0 };
}
#endif
