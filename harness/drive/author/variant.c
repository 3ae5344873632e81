/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers what the template of a variant leaves open. Names of axes and tensors become C names, each only once. */
#include "drive/author/variant.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/author/template.h"
#include "model/quantity.h"

#define C_NAME_MAX (ASSAY_NAME_MAX + 16)

/* What the template leaves open. */
enum {
	OP,
	NAME,
	STATE,
	INCLUDES,
	PLUGIN,
	OP_HELP,
	AXES_TABLE,
	TENSORS_TABLE,
	TENSORS_NOTE,
	EXACTNESS,
	HEADERS,
	COMPILE,
	VERIFY,
	RUN,
	AND_AXES,
	TENSOR_ENUM,
	AXIS_ENUM,
	LOCALS,
	UNITS,
	OUT,
	OUT_ENUM,
	N_UNITS,
	BODY,
	OTHER_OUTPUTS,
	UNUSED,
	COUNTERS,
	NEEDS,
	N_KEYS
};
#define KEY(name) [name] = #name
static const char *const keys[N_KEYS] = {
	KEY(OP),         KEY(NAME),          KEY(STATE),        KEY(INCLUDES),    KEY(PLUGIN),    KEY(OP_HELP),
	KEY(AXES_TABLE), KEY(TENSORS_TABLE), KEY(TENSORS_NOTE), KEY(EXACTNESS),   KEY(HEADERS),   KEY(COMPILE),
	KEY(VERIFY),     KEY(RUN),           KEY(AND_AXES),     KEY(TENSOR_ENUM), KEY(AXIS_ENUM), KEY(LOCALS),
	KEY(UNITS),      KEY(OUT),           KEY(OUT_ENUM),     KEY(N_UNITS),     KEY(BODY),      KEY(OTHER_OUTPUTS),
	KEY(UNUSED),     KEY(COUNTERS),      KEY(NEEDS),
};

struct filling {
	const struct assay_new_variant *v;
	struct assay_strings used; /* C names that are taken */
	char axis[ASSAY_MAX_AXES][C_NAME_MAX], axis_enum[ASSAY_MAX_AXES][C_NAME_MAX];
	char tensor[ASSAY_MAX_TENSORS][C_NAME_MAX], tensor_enum[ASSAY_MAX_TENSORS][C_NAME_MAX];
	uint32_t output;  /* the first */
	bool rows;        /* which is written row by row */
	const char *body; /* NULL: it is left open */
	struct assay_text value[N_KEYS];
};

static const struct {
	uint32_t dtype;
	const char *name, *c;
} types[] = {
	{ ASSAY_U8, "U8", "uint8_t" },    { ASSAY_I8, "I8", "int8_t" },       { ASSAY_I32, "I32", "int32_t" },
	{ ASSAY_I64, "I64", "int64_t" },  { ASSAY_F32, "F32", "float" },      { ASSAY_F64, "F64", "double" },
	{ ASSAY_F16, "F16", "uint16_t" }, { ASSAY_BF16, "BF16", "uint16_t" }, { ASSAY_U32, "U32", "uint32_t" },
};

static const char *type_name(uint32_t dtype, bool in_c)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].dtype == dtype)
			return in_c ? types[i].c : types[i].name;
	return in_c ? "void" : "?";
}

static const char *role_name(uint32_t role)
{
	return role == ASSAY_INPUT ? "input" : role == ASSAY_OUTPUT ? "output" : "scratch";
}

/* ---- C names ---- */

static bool reserved(const char *name)
{
	static const char *const words[] = {
		"arg",      "asm",      "auto",    "break",  "case",     "char",     "const",     "continue",
		"default",  "dims",     "do",      "double", "else",     "enum",     "extern",    "float",
		"for",      "from",     "goto",    "i",      "if",       "inline",   "int",       "int8_t",
		"int16_t",  "int32_t",  "int64_t", "job",    "linux",    "long",     "n_threads", "n_units",
		"register", "restrict", "return",  "run",    "short",    "signed",   "sizeof",    "static",
		"struct",   "switch",   "thread",  "to",     "typedef",  "typeof",   "uint8_t",   "uint16_t",
		"uint32_t", "uint64_t", "union",   "unix",   "unsigned", "variants", "void",      "volatile",
		"while",    "work",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name, words[i]))
			return true;
	return false;
}

/* A C name for @name behind @prefix, in capitals where @prefix is not empty, that nothing else has yet. */
static int c_name(struct filling *f, const char *prefix, const char *name, char *buf, struct assay_err *err)
{
	int n = snprintf(buf, C_NAME_MAX, "%s%s%.*s", prefix,
			 !prefix[0] && !isalpha((unsigned char)name[0]) ? "t_" : "", ASSAY_NAME_MAX - 1, name);

	for (char *c = buf; *c; c++)
		*c = !isalnum((unsigned char)*c) ? '_' : prefix[0] ? (char)toupper((unsigned char)*c) : *c;
	while ((reserved(buf) || assay_strings_has(&f->used, buf)) && n + 1 < C_NAME_MAX) {
		buf[n++] = '_';
		buf[n] = '\0';
	}
	return assay_strings_add(&f->used, buf, err);
}

static int choose_names(struct filling *f, struct assay_err *err)
{
	const struct assay_catalog_op *op = f->v->op;
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	int rc = 0;

	for (size_t i = 0; i < op->n_axes && !rc; i++) {
		rc = c_name(f, "", op->axes[i].name, f->axis[i], err);
		if (!rc)
			rc = c_name(f, "AXIS_", op->axes[i].name, f->axis_enum[i], err);
	}
	for (uint32_t i = 0; i < facts->n_tensors && !rc; i++) {
		rc = c_name(f, "", facts->tensors[i].name, f->tensor[i], err);
		if (!rc)
			rc = c_name(f, "TENSOR_", facts->tensors[i].name, f->tensor_enum[i], err);
	}
	return rc;
}

/* ---- what the op says, for people ---- */

static void add_range(struct assay_text *t, const struct assay_catalog_axis *a)
{
	if (!a->symbols.n) {
		assay_text_addf(t, "%lld to %lld", (long long)a->min, (long long)a->max);
		return;
	}
	for (size_t k = 0; k < a->symbols.n; k++) {
		assay_text_addf(t, "%s%zu ", k ? ", " : "", k);
		assay_template_comment(t, a->symbols.v[k]);
	}
}

static void axes_table(struct filling *f)
{
	const struct assay_catalog_op *op = f->v->op;
	struct assay_text *t = &f->value[AXES_TABLE];

	if (op->n_axes)
		assay_text_add(t, " * Axes, which together make a shape:\n");
	for (size_t i = 0; i < op->n_axes; i++) {
		assay_text_addf(t, " *   %-10s  ", f->axis[i]);
		if (op->axes[i].help && op->axes[i].help[0]) {
			assay_template_comment(t, op->axes[i].help);
			assay_text_add(t, "; ");
		}
		add_range(t, &op->axes[i]);
		assay_text_add(t, "\n");
	}
	if (op->n_axes)
		assay_text_add(t, " *");
}

/* "[n][k/4]" */
static void add_dims(const struct filling *f, uint32_t tensor, struct assay_text *t)
{
	const struct assay_shape_tensor *x = &f->v->shape->facts.tensors[tensor];

	for (uint32_t d = 0; d < x->rank; d++)
		if (f->v->shape->formula[tensor][d][0])
			assay_text_addf(t, "[%s]", f->v->shape->formula[tensor][d]);
		else
			assay_text_addf(t, "[(%lld)]", (long long)x->dims[d]);
}

static bool has_own_size(const struct filling *f)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;

	for (uint32_t i = 0; i < facts->n_tensors; i++)
		for (uint32_t d = 0; d < facts->tensors[i].rank; d++)
			if (!f->v->shape->formula[i][d][0])
				return true;
	return false;
}

static void tensors_table(struct filling *f)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	struct assay_text *t = &f->value[TENSORS_TABLE], *note = &f->value[TENSORS_NOTE], shape = { 0 };
	char ops[64], in[64], out[64];

	for (uint32_t i = 0; i < facts->n_tensors; i++) {
		assay_text_addf(t, "%s *   %-16s  %-7s  %-4s  ", i ? "\n" : "", f->tensor_enum[i],
				role_name(facts->tensors[i].role), type_name(facts->tensors[i].dtype, false));
		add_dims(f, i, t);
	}
	assay_op_shape_text(f->v->op, f->v->shape->axes, &shape);
	if (has_own_size(f))
		assay_text_addf(
			note,
			" *\n * A number in round brackets is the size at %s with one thread: it follows from the\n"
			" * shape in a way of its own. Take it from job->tensors[…].spec->dims.\n",
			shape.s ? shape.s : "the only shape");
	assay_quantity_text(facts->ops, "OP", false, ops, sizeof(ops));
	assay_quantity_text(facts->bytes_read, "B", false, in, sizeof(in));
	assay_quantity_text(facts->bytes_written, "B", false, out, sizeof(out));
	assay_text_addf(note, " *\n * One call%s%s: ", shape.s ? " at " : "", shape.s ? shape.s : "");
	if (facts->ops > 0)
		assay_text_addf(note, "%s, ", ops);
	assay_text_addf(note, "%s read, %s written, at least.", in, out);
	assay_text_release(&shape);
}

static void exactness(struct filling *f)
{
	assay_text_add(
		&f->value[EXACTNESS],
		f->v->op->exact
			? "Exact: every variant writes the same bits, on any number of threads, and assay compares "
			  "them. So keep\n * the order of operations on floats, and let the compiler fuse none of "
			  "them (-ffp-contract=off)."
			: "The op computes the answer itself and decides how far off is wrong. Where its outputs are "
			  "floats, assay\n * shows the largest relative error.");
}

static void headers(struct filling *f)
{
	struct assay_text *t = &f->value[HEADERS];

	for (size_t i = 0; i < f->v->headers->n; i++)
		assay_text_addf(t, "%s<%s>", i ? ", " : " *\n * What the numbers mean, format and rounding included: ",
				f->v->headers->v[i]);
}

/* ---- code ---- */

static void enums(struct filling *f)
{
	for (uint32_t i = 0; i < f->v->shape->facts.n_tensors; i++)
		assay_text_addf(&f->value[TENSOR_ENUM], "%s%s", i ? ", " : "", f->tensor_enum[i]);
	for (size_t i = 0; i < f->v->op->n_axes; i++)
		assay_text_addf(&f->value[AXIS_ENUM], "%s%s", i ? ", " : "enum { ", f->axis_enum[i]);
	if (f->v->op->n_axes) {
		assay_text_add(&f->value[AXIS_ENUM], " };");
		assay_text_add(&f->value[AND_AXES], " and job->shape->axis");
	}
}

/* Does the body use the local variable @name? One that is left open may use any. */
static bool uses(const struct filling *f, const char *name)
{
	static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t len = strlen(name);

	for (const char *at = f->body; at && (at = strstr(at, name)); at += len)
		if (!strchr(part, at[-1]) && !strchr(part, at[len]))
			return true;
	return !f->body;
}

static void locals(struct filling *f)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	struct assay_text *t = &f->value[LOCALS], *unused = &f->value[UNUSED];
	size_t n = 0;

	if (!f->body)
		assay_text_add(unused,
			       "\n\t/* These only keep the compiler quiet about what the body does not use yet: "
			       "delete them with the TODO. */\n");
	for (size_t i = 0; i < f->v->op->n_axes; i++) {
		if (!uses(f, f->axis[i]))
			continue;
		assay_text_addf(t, "%s\tconst int64_t %s = job->shape->axis[%s];", n ? "\n" : "", f->axis[i],
				f->axis_enum[i]);
		if (!f->body)
			assay_text_addf(unused, "%s\t(void)%s;", n ? "\n" : "", f->axis[i]);
		n++;
	}
	for (uint32_t i = 0; i < facts->n_tensors; i++) {
		if (!uses(f, f->tensor[i]))
			continue;
		assay_text_addf(t, "%s\t%s%s *%s = job->tensors[%s].data; /* %s ", n ? "\n" : "",
				facts->tensors[i].role == ASSAY_INPUT ? "const " : "",
				type_name(facts->tensors[i].dtype, true), f->tensor[i], f->tensor_enum[i],
				role_name(facts->tensors[i].role));
		add_dims(f, i, t);
		assay_text_add(t, " */");
		if (!f->body)
			assay_text_addf(unused, "%s\t(void)%s;", n ? "\n" : "", f->tensor[i]);
		n++;
	}
}

/* Is this dimension the same in all shapes? */
static bool constant(const char *formula)
{
	return formula[0] && formula[strspn(formula, "0123456789")] == '\0';
}

/*
 * Does the op work on rows, as norms, softmax and quantizers of tokens do? Then an input has the shape of the output,
 * and what becomes of an element depends on all of its row.
 */
static bool works_on_rows(const struct filling *f)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	const struct assay_shape_tensor *out = &facts->tensors[f->output];

	for (uint32_t i = 0; i < facts->n_tensors && out->rank > 1; i++) {
		bool same = facts->tensors[i].role == ASSAY_INPUT && facts->tensors[i].rank == out->rank;

		for (uint32_t d = 0; d < out->rank && same; d++)
			same = f->v->shape->formula[i][d][0] &&
			       !strcmp(f->v->shape->formula[i][d], f->v->shape->formula[f->output][d]);
		if (same)
			return true;
	}
	return false;
}

/* An output with an element for each row of the first one. */
static bool is_of_rows(const struct filling *f, uint32_t i)
{
	const struct assay_shape_tensor *t = f->v->shape->facts.tensors;

	return f->rows && t[i].role == ASSAY_OUTPUT && t[i].rank == 1 && t[f->output].rank == 2 &&
	       !strcmp(f->v->shape->formula[i][0], f->v->shape->formula[f->output][0]);
}

/* Rows of the output, and what other outputs have for each of them, such as a scale. */
static void row_body(struct filling *f, uint32_t last)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	const char *out = f->tensor[f->output];
	struct assay_text *t = &f->value[BODY];

	assay_text_addf(t, "\t\t/* TODO: write row i of %s, the dims[%u] elements from %s + dims[%u] * i on. */", out,
			last, out, last);
	for (uint32_t i = f->output + 1; i < facts->n_tensors; i++)
		if (is_of_rows(f, i))
			assay_text_addf(t, "\n\t\t/* TODO: write %s[i], too. */", f->tensor[i]);
}

/*
 * How threads share the first output: by rows, where the op works on rows, else by elements, or by the blocks that its
 * last dimensions make where these are the same in all shapes, such as the 34 bytes of [n/32][34].
 */
static void share(struct filling *f)
{
	const struct assay_shape_tensor *x = &f->v->shape->facts.tensors[f->output];
	const char(*formula)[ASSAY_FORMULA_MAX] = f->v->shape->formula[f->output];
	const char *out = f->tensor[f->output];
	long long block = 1;
	uint32_t n = x->rank;

	while (n && constant(formula[n - 1]))
		block *= x->dims[--n];
	if (!n) {
		n = x->rank;
		block = 1;
	}
	f->rows = n == x->rank && works_on_rows(f);
	n -= f->rows;
	for (uint32_t d = 0; d < n; d++)
		assay_text_addf(&f->value[N_UNITS], "%sdims[%u]", d ? " * " : "", d);
	if (!n)
		assay_text_add(&f->value[N_UNITS], "dims ? 1 : 0");
	assay_text_add(&f->value[OUT], out);
	assay_text_add(&f->value[OUT_ENUM], f->tensor_enum[f->output]);
	if (f->rows)
		assay_text_addf(&f->value[UNITS], "rows (dims[%u] elements each)", n);
	else if (block == 1)
		assay_text_add(&f->value[UNITS], "elements");
	else
		assay_text_addf(&f->value[UNITS], "blocks of %lld elements", block);
	if (f->body)
		return;
	if (f->rows)
		row_body(f, n);
	else if (block != 1)
		assay_text_addf(&f->value[BODY],
				"\t\t/* TODO: write block i of %s, the %lld elements from %s + %lld * i on. */", out,
				block, out, block);
	else if (n == 2)
		assay_text_addf(&f->value[BODY],
				"\t\t/* TODO: write %s[i], which is row i / dims[1], column i %% dims[1]. */", out);
	else
		assay_text_addf(&f->value[BODY], "\t\t/* TODO: write %s[i]. */", out);
}

static void other_outputs(struct filling *f)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;
	struct assay_text *t = &f->value[OTHER_OUTPUTS];

	for (uint32_t i = f->output + 1; i < facts->n_tensors && !f->body; i++)
		if (facts->tensors[i].role == ASSAY_OUTPUT && !is_of_rows(f, i))
			assay_text_addf(t, "%s\t/* TODO: write %s, too. */", t->len ? "\n" : "", f->tensor[i]);
}

static void counters(struct filling *f)
{
	const struct assay_strings *names = &f->v->op->counters;
	struct assay_text *t = &f->value[COUNTERS];

	for (size_t i = 0; i < names->n; i++) {
		assay_text_addf(t, "%s%zu ",
				i ? ", " : "\t/* assay_counter(job, 0, n) adds n to what assay counts: ", i);
		assay_template_comment(t, names->v[i]);
	}
	if (names->n)
		assay_text_add(t, ". */");
}

/* What other variants of the op need, as examples. */
static void needs(struct filling *f)
{
	const struct assay_catalog *cat = f->v->catalog;
	struct assay_text *t = &f->value[NEEDS];

	for (size_t i = 0; i < cat->n_variants; i++) {
		const struct assay_catalog_variant *x = &cat->variants[i];

		if (strcmp(x->op, f->v->op->name) != 0 || !x->needs)
			continue;
		assay_text_addf(t, "%s\t\t *   %s has \"", t->len ? "\n" : "", x->name);
		assay_template_comment(t, x->needs);
		assay_text_add(t, "\"");
	}
}

static int find_output(struct filling *f, struct assay_err *err)
{
	const struct assay_shape_facts *facts = &f->v->shape->facts;

	for (f->output = 0; f->output < facts->n_tensors; f->output++)
		if (facts->tensors[f->output].role == ASSAY_OUTPUT)
			return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "op '%s' has no output that a variant could write", f->v->op->name);
}

/* An example begins with the headers that it takes. */
static const char *example(const char *op)
{
	char name[ASSAY_NAME_MAX + 8];

	snprintf(name, sizeof(name), "%s.body", op);
	return assay_template_text(name);
}

bool assay_new_variant_has_example(const char *op)
{
	return example(op) != NULL;
}

static void body(struct filling *f)
{
	const char *text = f->v->example ? example(f->v->op->name) : NULL;

	assay_text_add(&f->value[STATE], text ? "It is right as it is, and simple: make it faster."
					      : "Its body is not written yet, and assay says WRONG until it is.");
	f->body = text;
	if (!text)
		return;
	while (!strncmp(f->body, "#include", 8))
		f->body += strcspn(f->body, "\n") + 1;
	assay_text_addn(&f->value[INCLUDES], text, (size_t)(f->body - text));
	assay_text_addn(&f->value[BODY], f->body, strlen(f->body) - 1);
}

static void fill_in(struct filling *f)
{
	const struct assay_new_variant *v = f->v;

	body(f);

	assay_text_add(&f->value[OP], v->op->name);
	assay_text_add(&f->value[NAME], v->name);
	assay_text_add(&f->value[PLUGIN], v->name);
	assay_template_comment(&f->value[OP_HELP], v->op->help && v->op->help[0] ? v->op->help : v->op->name);
	assay_text_add(&f->value[COMPILE], v->compile);
	assay_text_add(&f->value[VERIFY], v->verify);
	assay_text_add(&f->value[RUN], v->run);
	axes_table(f);
	tensors_table(f);
	exactness(f);
	headers(f);
	enums(f);
	locals(f);
	share(f);
	other_outputs(f);
	counters(f);
	needs(f);
}

int assay_new_variant_source(const struct assay_new_variant *v, struct assay_text *out, struct assay_err *err)
{
	struct assay_template_value values[N_KEYS];
	struct filling *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	f->v = v;
	rc = find_output(f, err);
	if (!rc)
		rc = choose_names(f, err);
	if (!rc)
		fill_in(f);
	for (size_t i = 0; i < N_KEYS; i++) {
		values[i] = (struct assay_template_value){ keys[i], f->value[i].s ? f->value[i].s : "" };
		out->failed |= f->value[i].failed;
	}
	if (!rc)
		rc = assay_template_fill("variant.c", values, N_KEYS, out, err);
	for (size_t i = 0; i < N_KEYS; i++)
		assay_text_release(&f->value[i]);
	assay_strings_release(&f->used);
	free(f);
	return rc;
}
