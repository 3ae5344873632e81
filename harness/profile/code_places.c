/* SPDX-License-Identifier: Apache-2.0 */
/* By elfutils' libdwfl, which reads a file when the first address in it is asked for. */
#include "profile/code_places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if ASSAY_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct assay_code_places {
	Dwfl *dwfl;
};

/* Separate files of debug information differ from machine to machine. */
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

int assay_code_places_open(struct assay_code_places **out, struct assay_err *err)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
						  .find_debuginfo = no_debug_file };
	struct assay_code_places *p = calloc(1, sizeof(*p));

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the places of code");
	p->dwfl = dwfl_begin(&callbacks);
	if (!p->dwfl || dwfl_linux_proc_report(p->dwfl, getpid()) || dwfl_report_end(p->dwfl, NULL, NULL)) {
		assay_err_set(err, ASSAY_EIO, "cannot tell which files are mapped: %s", dwfl_errmsg(-1));
		assay_code_places_close(p);
		return ASSAY_EIO;
	}
	*out = p;
	return 0;
}

void assay_code_places_close(struct assay_code_places *p)
{
	if (!p)
		return;
	if (p->dwfl)
		dwfl_end(p->dwfl);
	free(p);
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

static void find_line(Dwfl_Module *m, uint64_t address, struct assay_code_place *at)
{
	Dwfl_Line *l = dwfl_module_getsrc(m, address);
	const char *path, *slash;
	int line = 0;

	path = l ? dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL) : NULL;
	if (path && is_of_system(path))
		path = leave_system(m, address, path, &line);
	if (!path || line <= 0)
		return;
	slash = strrchr(path, '/');
	at->file = slash ? slash + 1 : path;
	at->line = (unsigned)line;
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
	at.function = name ? name : "";
	find_line(m, address, &at);
	return at;
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

void assay_code_places_close(struct assay_code_places *p)
{
	(void)p;
}

struct assay_code_place assay_code_places_find(struct assay_code_places *p, uint64_t address)
{
	(void)p;
	(void)address;
	return (struct assay_code_place){ "", "", "", 0 };
}
#endif
