/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By __cxa_demangle() of libstdc++, which every system has that runs programs in C++, and which is loaded when the
 * first such name is met. Names of Rust up to its "legacy" mangling are names of C++ with a hash at their end and
 * escapes within.
 */
#include "base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_LETTERS 16 /* of Rust: "::h" and so many */

typedef char *demangle_fn(const char *symbol, char *buf, size_t *size, int *status);

static demangle_fn *find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	return library ? (demangle_fn *)dlsym(library, "__cxa_demangle") : NULL;
}

/* ---- C++ -------------------------------------------------------------------------------------------------------- */

/* Where the parameters of a function begin, the outermost of its last "(…)"; its length where it has none. */
static size_t parameters_at(const char *name)
{
	size_t end = strlen(name), depth = 0;

	while (end && name[end - 1] != ')' && name[end - 1] != '}' && name[end - 1] != '>')
		end--; /* " const", "&", " [abi:cxx11]" */
	if (!end || name[end - 1] != ')')
		return strlen(name);
	for (size_t i = end; i-- > 0;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth)
			return i;
	}
	return strlen(name);
}

/* Where the name of a function begins, behind what it returns, which instances of templates tell. */
static size_t name_at(const char *name, size_t end)
{
	size_t begin = 0, depth = 0;

	for (size_t i = 0; i < end; i++) {
		if ((!i || name[i - 1] == ' ' || name[i - 1] == ':') &&
		    !strncmp(name + i, "operator", strlen("operator")))
			break;
		depth += name[i] == '<' || name[i] == '(' || name[i] == '{' || name[i] == '[';
		depth -= depth && (name[i] == '>' || name[i] == ')' || name[i] == '}' || name[i] == ']');
		if (name[i] == ' ' && !depth)
			begin = i + 1;
	}
	return begin;
}

/* ---- Rust ------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *escape, *text;
} escapes[] = {
	{ "$LT$", "<" }, { "$GT$", ">" }, { "$RF$", "&" }, { "$BP$", "*" }, { "$LP$", "(" },
	{ "$RP$", ")" }, { "$SP$", "@" }, { "$C$", "," },  { "..", "::" },
};

/* Does @name end with "::h" and a hash? */
static bool is_rust(const char *name)
{
	const size_t len = strlen(name);
	const char *hash = len > HASH_LETTERS + 3 ? name + len - HASH_LETTERS : NULL;

	return hash && !strncmp(hash - 3, "::h", 3) && strspn(hash, "0123456789abcdef") == HASH_LETTERS;
}

/* "$u20$" is the character 0x20. Of those that names have all are of ASCII. */
static size_t code_escape(const char *at, char *out)
{
	char *end;
	unsigned long code;

	if (strncmp(at, "$u", 2) != 0 || !isxdigit((unsigned char)at[2]))
		return 0;
	code = strtoul(at + 2, &end, 16);
	if (*end != '$' || code < ' ' || code > '~')
		return 0;
	*out = (char)code;
	return (size_t)(end + 1 - at);
}

/* In place: no escape is shorter than its text. */
static void read_escapes(char *name)
{
	char *to = name;

	name[strlen(name) - HASH_LETTERS - 3] = '\0';
	for (const char *at = name; *at;) {
		size_t used = code_escape(at, to);

		/* the compiler puts this before what may not begin a name */
		if (*at == '_' && at[1] == '$' && (at == name || at[-1] == ':')) {
			at++;
			continue;
		}
		for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]) && !used; i++)
			if (!strncmp(at, escapes[i].escape, strlen(escapes[i].escape))) {
				used = strlen(escapes[i].escape);
				memcpy(to, escapes[i].text, strlen(escapes[i].text));
				to += strlen(escapes[i].text) - 1;
			}
		if (!used) {
			*to = *at;
			used = 1;
		}
		to++;
		at += used;
	}
	*to = '\0';
}

/* ---- either ----------------------------------------------------------------------------------------------------- */

/* Where a suffix of a clone begins. Names of Rust have dots of their own, and one suffix alone. */
static size_t clone_at(const char *symbol)
{
	const char *llvm = strstr(symbol, ".llvm."), *dot = strchr(symbol, '.');
	const char *at = llvm ? llvm : strstr(symbol, "17h") ? NULL : dot;

	return at ? (size_t)(at - symbol) : strlen(symbol);
}

char *assay_demangle(const char *symbol)
{
	const size_t len = strncmp(symbol, "_Z", 2) != 0 ? 0 : clone_at(symbol);
	demangle_fn *demangle = len ? find_demangler() : NULL;
	char *mangled = demangle ? strndup(symbol, len) : NULL, *name = NULL, *whole;
	int status = 0;

	if (mangled)
		name = demangle(mangled, NULL, NULL, &status);
	free(mangled);
	if (!name)
		return NULL;
	if (is_rust(name))
		read_escapes(name);
	else {
		const size_t end = parameters_at(name), begin = end < strlen(name) ? name_at(name, end) : 0;

		memmove(name, name + begin, end - begin);
		name[end - begin] = '\0';
	}
	if (!symbol[len])
		return name;
	whole = malloc(strlen(name) + strlen(symbol + len) + 1);
	if (whole)
		strcat(strcpy(whole, name), symbol + len);
	free(name);
	return whole;
}
