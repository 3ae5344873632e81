/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns on the harness when it is asked what a case takes: variants of example.scale, each in its own way, and an op
 * whose axis `kind` says what is wrong with its description.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/plugin.h>

static int run(struct assay_job *job)
{
	memset(job->tensors[job->n_tensors - 1].data, 1, job->tensors[job->n_tensors - 1].bytes);
	return 0;
}

static void say(const char *text)
{
	for (int fd = 3; fd < 64; fd++) {
		struct stat st;

		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode) && write(fd, text, strlen(text)) < 0)
			_exit(9);
	}
}

static int crash(const struct assay_shape *shape, struct assay_reason *why)
{
	raise(SIGSEGV);
	return 0;
}

static int hang(const struct assay_shape *shape, struct assay_reason *why)
{
	while (pause())
		;
	return 0;
}

/* A line without an end, in pieces that a slow machine, too, reads within the time for an answer. */
static int flood(const struct assay_shape *shape, struct assay_reason *why)
{
	static char piece[32768];

	memset(piece, 'a', sizeof(piece) - 1);
	while (getpid())
		say(piece);
	return 0;
}

static int forge(const struct assay_shape *shape, struct assay_reason *why)
{
	say("{\"supported\":true,\"timed\":true}\n");
	return 0;
}

/* Whoever reads the answers in turn takes one for that of the next question. */
static int twice(const struct assay_shape *shape, struct assay_reason *why)
{
	char buf[64] = "";

	for (int question = 2; question < 40; question++) {
		snprintf(buf, sizeof(buf), "{\"question\":%d,\"refused\":\"forged\"}\n", question);
		say(buf);
	}
	return 0;
}

static int escape(const struct assay_shape *shape, struct assay_reason *why)
{
	memset(why->text, 'a', sizeof(why->text)); /* without an end */
	memcpy(why->text, "\033[31mred\xe2\x80\xae\xff\n", 13);
	return -1;
}

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	struct assay_tensor_spec *t = out->tensors;

	out->n_tensors = 1;
	t[0] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_I32, .rank = 1, .dims = { 4 }
	};
	switch (shape->axis[0]) {
	case 1:
		out->n_tensors = ASSAY_MAX_TENSORS + 1;
		break;
	case 2:
		t->role = 4;
		break;
	case 3:
		t->dtype = 77;
		break;
	case 4:
		t->rank = ASSAY_MAX_RANK + 1;
		break;
	case 5:
		out->cost.ops = NAN;
		break;
	case 6:
		out->cost.arith = 99;
		break;
	case 7:
		t->name = NULL;
		break;
	case 8:
		raise(SIGABRT);
		break;
	case 9:
		memset(why->text, 'b', sizeof(why->text)); /* without an end */
		return -1;
	default:
		break;
	}
	return 0;
}

static int fill(struct assay_job *job)
{
	return 0;
}

static int check(struct assay_job *job, struct assay_check *out)
{
	out->correct = 1;
	return 0;
}

static const struct assay_axis axes[] = { { .name = "kind", .help = "of fault", .min = 0, .max = 99, .def = 0 } };

static const struct assay_op ops[] = {
	{ .name = "hostile.describe",
	  .help = "describes what there cannot be",
	  .axes = axes,
	  .n_axes = 1,
	  .axis_stride = sizeof(axes[0]),
	  .describe = describe,
	  .fill = fill,
	  .check = check },
};

#define ASKED(n, f)                                                                                                    \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "misbehaves when asked", .supports = f, .run = run           \
	}

static const struct assay_variant variants[] = {
	ASKED("ask_crash", crash),
	ASKED("ask_hang", hang),
	ASKED("ask_flood", flood),
	ASKED("ask_forge", forge),
	ASKED("ask_twice", twice),
	ASKED("ask_escape", escape),
	{ .op = "hostile.describe", .name = "ref", .help = "does nothing", .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "hostile-ask",
	.version = "1",
	.ops = ops,
	.n_ops = 1,
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
