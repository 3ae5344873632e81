/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libconfuse keeps neither the lines of values nor two sections of one title, and its callbacks carry no user pointer.
 * So the tree is built while it parses: every option is a pointer option whose value callback sees each value in turn,
 * a hidden list with a default value makes it call back when a section opens, the section's validation callback closes
 * it, and a hidden simple option in every section leads back to the builder.
 */
#include "base/conf.h"

#include <confuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"

/* Names that no file means. */
#define BUILDER_OPT "\001builder"
#define OPENED_OPT  "\001opened"

#define MAX_DEPTH 4

struct builder {
	struct assay_conf *conf;
	struct assay_err *err;
	const struct assay_conf_grammar *grammar[MAX_DEPTH];
	struct assay_conf_section *open[MAX_DEPTH]; /* the path from the root to the section being read */
	int depth;
	int rc;
};

/* ---- the tree --------------------------------------------------------------------------------------------------- */

static void section_release(struct assay_conf_section *s)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		struct assay_conf_entry *e = &s->entries[i];

		for (size_t k = 0; k < e->n; k++)
			free(e->values[k].text);
		free(e->values);
		free(e->name);
	}
	for (size_t i = 0; i < s->n_sections; i++)
		section_release(&s->sections[i]);
	free(s->entries);
	free(s->sections);
	free(s->name);
	free(s->title);
}

void assay_conf_release(struct assay_conf *conf)
{
	section_release(&conf->root);
	free(conf->path);
	memset(conf, 0, sizeof(*conf));
}

static struct assay_conf_section *section_add(struct assay_conf_section *parent, const char *name, const char *title)
{
	struct assay_conf_section *s;

	if (assay_grow(&parent->sections, parent->n_sections, sizeof(*s)))
		return NULL;
	s = &parent->sections[parent->n_sections];
	memset(s, 0, sizeof(*s));
	s->name = strdup(name);
	s->title = title ? strdup(title) : NULL;
	if (!s->name || (title && !s->title)) {
		section_release(s);
		return NULL;
	}
	parent->n_sections++;
	return s;
}

static struct assay_conf_entry *entry_find(const struct assay_conf_section *s, const char *name)
{
	for (size_t i = 0; i < s->n_entries; i++)
		if (!strcmp(s->entries[i].name, name))
			return &s->entries[i];
	return NULL;
}

const struct assay_conf_entry *assay_conf_entry(const struct assay_conf_section *s, const char *name)
{
	return entry_find(s, name);
}

static struct assay_conf_entry *entry_add(struct assay_conf_section *s, const char *name, const char *path)
{
	struct assay_conf_entry *v;

	if (assay_grow(&s->entries, s->n_entries, sizeof(*v)))
		return NULL;
	v = &s->entries[s->n_entries];
	memset(v, 0, sizeof(*v));
	v->path = path;
	v->name = strdup(name);
	if (!v->name)
		return NULL;
	s->n_entries++;
	return v;
}

static int value_add(struct assay_conf_entry *e, const char *text, unsigned line)
{
	struct assay_conf_value *v;

	if (assay_grow(&e->values, e->n, sizeof(*v)))
		return ASSAY_ENOMEM;
	v = &e->values[e->n];
	v->line = line;
	v->text = strdup(text);
	if (!v->text)
		return ASSAY_ENOMEM;
	e->n++;
	return 0;
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

int assay_conf_fail(struct assay_err *err, const char *path, unsigned line, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return assay_err_set(err, ASSAY_EUSAGE, "%s:%u: %s", path, line, text);
}

const char *assay_conf_hint(const char *name, const char *const *known, size_t n, char *buf, size_t size)
{
	const char *near = n ? assay_nearest(name, known, n) : NULL;
	size_t shown, len;

	if (near) {
		snprintf(buf, size, ", did you mean '%s'?", near);
		return buf;
	}
	if (!n) {
		snprintf(buf, size, ", there are none");
		return buf;
	}
	snprintf(buf, size, ", expected %s", n > 1 ? "one of " : "");
	len = strlen(buf);
	for (shown = 0; shown < n && shown < 12; shown++) {
		size_t more = strlen(known[shown]) + (shown ? 2 : 0);

		if (len + more + sizeof(", …") > size) /* a name that is cut off is none */
			break;
		snprintf(buf + len, size - len, "%s%s", shown ? ", " : "", known[shown]);
		len += more;
	}
	if (shown < n)
		snprintf(buf + len, size - len, "%s…", shown ? ", " : "");
	return buf;
}

static struct builder *builder_of(cfg_t *cfg)
{
	for (cfg_opt_t *o = cfg->opts; o && o->name; o++)
		if (!strcmp(o->name, BUILDER_OPT))
			return (struct builder *)(void *)o->simple_value.ptr;
	return NULL;
}

static int out_of_memory(struct builder *b)
{
	if (!b->rc)
		b->rc = assay_err_set(b->err, ASSAY_ENOMEM, "out of memory reading '%s'", b->conf->path);
	return -1;
}

static size_t known_names(const struct assay_conf_grammar *g, const char **names, size_t max)
{
	size_t n = 0;

	for (const struct assay_conf_option *o = g->options; o && o->name && n < max; o++)
		names[n++] = o->name;
	for (const struct assay_conf_grammar *s = g->sections; s && s->name && n < max; s++)
		names[n++] = s->name;
	return n;
}

/* libconfuse says what is wrong; what is missing in its messages is what would be right. */
static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	struct builder *b = builder_of(cfg);
	const struct assay_conf_grammar *g;
	const char *names[32], *name = NULL;
	char text[256], hint[256] = "";
	va_list first;

	if (!b || b->rc)
		return;
	g = b->grammar[b->depth];
	if (!strncmp(fmt, "no such option", 14)) {
		size_t n = known_names(g, names, sizeof(names) / sizeof(*names));

		va_copy(first, ap);
		name = va_arg(first, const char *);
		assay_conf_hint(name, names, n, hint, sizeof(hint));
		va_end(first);
	} else if (!strncmp(fmt, "unexpected token", 16)) {
		snprintf(hint, sizeof(hint), ", expected name = \"value\", name = {\"value\", …} or a closing brace");
	} else if (!strncmp(fmt, "missing title", 13)) {
		snprintf(hint, sizeof(hint), ", expected a name in quotes before the brace");
	}
	vsnprintf(text, sizeof(text), fmt, ap);
	/* libconfuse calls a key an option, which is something else for users of a command line */
	if (name)
		snprintf(text, sizeof(text), "unknown key '%.200s'", name);
	b->rc = assay_conf_fail(b->err, b->conf->path, (unsigned)cfg->line, "%s%s", text, hint);
}

/* ---- callbacks -------------------------------------------------------------------------------------------------- */

static int on_open(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct builder *b = builder_of(cfg);
	const struct assay_conf_grammar *g;
	struct assay_conf_section *s;

	(void)opt;
	(void)value;
	*(void **)result = NULL;
	/* An error here would make libconfuse abort the process: remember it and go on. */
	if (!b || b->rc || b->depth + 1 >= MAX_DEPTH)
		return 0;
	for (g = b->grammar[b->depth]->sections; g && g->name && strcmp(g->name, cfg->name); g++)
		;
	if (!g || !g->name)
		return 0;
	s = section_add(b->open[b->depth], cfg->name, g->titled ? cfg->title : NULL);
	if (!s) {
		out_of_memory(b);
		return 0;
	}
	s->line = (unsigned)cfg->line;
	b->depth++;
	b->open[b->depth] = s;
	b->grammar[b->depth] = g;
	return 0;
}

/* An empty list calls nobody back, but marks its option as set. */
static const char *empty_list(cfg_opt_t *section)
{
	for (unsigned i = 0; i < cfg_opt_size(section); i++)
		for (cfg_opt_t *o = cfg_opt_getnsec(section, i)->opts; o->name; o++)
			if ((o->flags & CFGF_LIST) && (o->flags & CFGF_MODIFIED) && !o->nvalues)
				return o->name;
	return NULL;
}

static int on_close(cfg_t *cfg, cfg_opt_t *opt)
{
	struct builder *b = builder_of(cfg);
	const char *name;

	if (!b || b->rc)
		return -1;
	name = empty_list(opt);
	if (name) {
		b->rc = assay_conf_fail(b->err, b->conf->path, b->open[b->depth]->line,
					"'%s' is an empty list, expected at least one value", name);
		return -1;
	}
	b->depth--;
	/* the tree has it all; libconfuse would search what it keeps for every further section */
	cfg_free_value(opt);
	return 0;
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct builder *b = builder_of(cfg);
	struct assay_conf_entry *e;

	*(void **)result = NULL;
	if (!b || b->rc)
		return -1;
	e = entry_find(b->open[b->depth], opt->name);
	/* libconfuse forgets the earlier values at a second '='; only '+=' goes on counting. */
	if (e && opt->nvalues == 1) {
		b->rc = assay_conf_fail(b->err, b->conf->path, (unsigned)cfg->line,
					"'%s' is set twice, first in line %u%s", opt->name, e->values[0].line,
					(opt->flags & CFGF_LIST) ? "; += appends" : "");
		return -1;
	}
	if (!e)
		e = entry_add(b->open[b->depth], opt->name, b->conf->path);
	if (!e || value_add(e, value, (unsigned)cfg->line))
		return out_of_memory(b);
	return 0;
}

/* ---- what libconfuse would read past ---------------------------------------------------------------------------- */

/*
 * libconfuse 3.3 stops at a comment inside a list, takes the end of the file for a closing brace, and tells of an open
 * string only at the end of the file. So comments are blanked and these are found before it sees the text.
 */
struct scan {
	const char *path;
	char *at;
	unsigned line;
	unsigned braces[16]; /* lines of those that are open */
	size_t depth;
	struct assay_err *err;
};

static int scan_string(struct scan *c)
{
	char quote = *c->at;

	while (*++c->at != quote) {
		if (*c->at == '\\' && c->at[1])
			c->at++;
		if ((unsigned char)*c->at < ' ' && *c->at != '\t')
			return assay_conf_fail(c->err, c->path, c->line,
					       "string is not closed, expected %c before the end of the line", quote);
	}
	c->at++;
	return 0;
}

static int scan_comment(struct scan *c)
{
	bool block = c->at[0] == '/' && c->at[1] == '*';
	char *end = block ? strstr(c->at + 2, "*/") : strchr(c->at, '\n');

	if (block && !end)
		return assay_conf_fail(c->err, c->path, c->line, "comment is not closed, expected */");
	end = !end ? c->at + strlen(c->at) : block ? end + 2 : end;
	for (; c->at < end; c->at++) {
		if (*c->at == '\n')
			c->line++;
		else
			*c->at = ' ';
	}
	return 0;
}

static int scan_brace(struct scan *c)
{
	if (*c->at == '}') {
		if (!c->depth)
			return assay_conf_fail(c->err, c->path, c->line, "closing brace without an opening one");
		c->depth--;
	} else {
		if (c->depth == sizeof(c->braces) / sizeof(*c->braces))
			return assay_conf_fail(c->err, c->path, c->line, "braces are nested too deeply");
		c->braces[c->depth++] = c->line;
	}
	c->at++;
	return 0;
}

static int scan_text(const char *path, char *text, size_t len, struct assay_err *err)
{
	struct scan c = { .path = path, .at = text, .line = 1, .err = err };
	int rc = 0;

	while (!rc && c.at < text + len) {
		char ch = *c.at;

		if (ch == '"' || ch == '\'') {
			rc = scan_string(&c);
		} else if (ch == '#' || (ch == '/' && (c.at[1] == '/' || c.at[1] == '*'))) {
			rc = scan_comment(&c);
		} else if (ch == '{' || ch == '}') {
			rc = scan_brace(&c);
		} else if (((unsigned char)ch < ' ' && !strchr("\t\n\r", ch)) || !ch) {
			rc = assay_conf_fail(err, path, c.line, "control character 0x%02x, expected text",
					     (unsigned)ch);
		} else {
			c.line += ch == '\n';
			c.at++;
		}
	}
	if (!rc && c.depth)
		rc = assay_conf_fail(err, path, c.braces[c.depth - 1], "brace is not closed, expected }");
	return rc;
}

/*
 * In double quotes, a backslash before a character for which it means nothing stays, so that regular expressions can be
 * written as they are; libconfuse would drop it. A new string. NULL: out of memory.
 */
static char *keep_backslashes(const char *text)
{
	struct assay_text out = { 0 };
	char quote = '\0';

	for (; *text; text++) {
		const bool escapes = quote == '"' && *text == '\\' && text[1];

		if (escapes && !strchr("\"'\\nrtabefvx01234567$\n", text[1]))
			assay_text_add(&out, "\\");
		if (!quote && (*text == '"' || *text == '\''))
			quote = *text;
		else if (*text == quote)
			quote = '\0';
		assay_text_addn(&out, text, 1);
		if (quote && *text == '\\' && text[1])
			assay_text_addn(&out, ++text, 1);
	}
	return assay_text_take(&out);
}

/* ---- from the grammar to libconfuse's tables -------------------------------------------------------------------- */

static void opts_free(cfg_opt_t *opts)
{
	for (cfg_opt_t *o = opts; o && o->name; o++)
		opts_free(o->subopts);
	free(opts);
}

static cfg_opt_t *opts_make(const struct assay_conf_grammar *g, struct builder *b, bool root)
{
	static char opened_default[] = "{opened}";
	size_t n = 0, k = 0;
	cfg_opt_t *v;

	for (const struct assay_conf_option *o = g->options; o && o->name; o++)
		n++;
	for (const struct assay_conf_grammar *s = g->sections; s && s->name; s++)
		n++;
	v = calloc(n + 3, sizeof(*v));
	if (!v)
		return NULL;

	/* The builder first: the callback of the hidden list needs it. */
	v[k++] = (cfg_opt_t){ .name = BUILDER_OPT, .type = CFGT_PTR, .simple_value = { .ptr = (void **)(void *)b } };
	if (!root)
		v[k++] = (cfg_opt_t){ .name = OPENED_OPT,
				      .type = CFGT_PTR,
				      .flags = CFGF_LIST,
				      .def = { .parsed = opened_default },
				      .parsecb = on_open };
	for (const struct assay_conf_option *o = g->options; o && o->name; o++)
		v[k++] = (cfg_opt_t){
			.name = o->name, .type = CFGT_PTR, .flags = o->list ? CFGF_LIST : CFGF_NONE, .parsecb = on_value
		};
	for (const struct assay_conf_grammar *s = g->sections; s && s->name; s++) {
		cfg_opt_t *sub = opts_make(s, b, false);

		if (!sub) {
			opts_free(v);
			return NULL;
		}
		v[k++] = (cfg_opt_t){ .name = s->name,
				      .type = CFGT_SEC,
				      .subopts = sub,
				      .validcb = on_close,
				      .flags = CFGF_MULTI | (s->titled ? CFGF_TITLE : 0) };
	}
	return v;
}

/* The scanner of libconfuse has one global state, and a server answers in many threads. */
static pthread_mutex_t scanner = PTHREAD_MUTEX_INITIALIZER;

int assay_conf_parse(struct assay_conf *conf, char *text, size_t len, const char *path,
		     const struct assay_conf_grammar *root, struct assay_err *err)
{
	struct assay_conf made = { 0 };
	struct builder b = { .conf = &made, .err = err, .open = { &made.root }, .grammar = { root } };
	cfg_opt_t *opts = NULL;
	cfg_t *cfg = NULL;
	int rc = scan_text(path, text, len, err);
	char *kept = NULL;

	if (rc)
		goto out;

	made.path = strdup(path);
	kept = keep_backslashes(text);
	opts = made.path && kept ? opts_make(root, &b, true) : NULL;
	cfg = opts ? cfg_init(opts, CFGF_NONE) : NULL;
	if (!cfg) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", path);
		goto out;
	}
	cfg_set_error_function(cfg, on_error);
	pthread_mutex_lock(&scanner);
	if (len && cfg_parse_buf(cfg, kept) != CFG_SUCCESS && !b.rc)
		b.rc = assay_conf_fail(err, path, (unsigned)cfg->line, "syntax error, expected name = \"value\"");
	pthread_mutex_unlock(&scanner);
	rc = b.rc;
	if (!rc) {
		*conf = made;
		memset(&made, 0, sizeof(made));
	}
out:
	if (cfg)
		cfg_free(cfg);
	opts_free(opts);
	free(kept);
	assay_conf_release(&made);
	return rc;
}

int assay_conf_load(struct assay_conf *conf, const char *path, const struct assay_conf_grammar *root,
		    struct assay_err *err)
{
	char *text = NULL;
	size_t len;
	int rc = assay_file_read_as(path, ASSAY_FILE_CONF, &text, &len, err);

	/* such files are the user's */
	if (rc == ASSAY_EIO) {
		rc = ASSAY_EUSAGE;
		if (err)
			err->code = rc;
	}
	if (!rc)
		rc = assay_conf_parse(conf, text, len, path, root, err);
	free(text);
	return rc;
}
