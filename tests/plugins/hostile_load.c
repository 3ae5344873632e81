/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns on the harness while it is loaded, in the way that $HOSTILE names. Where the variable is not set it is a plugin
 * like any other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/plugin.h>

static int run(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = x[i] * 2 + 1;
	return 0;
}

/* The socket to the harness, or -1 in a worker, which has none. */
static int harness(void)
{
	for (int fd = 3; fd < 64; fd++) {
		struct stat st;

		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode))
			return fd;
	}
	return -1;
}

static void say(const char *text)
{
	size_t len = strlen(text);

	if (write(harness(), text, len) != (ssize_t)len)
		_exit(9);
}

/* Leaves a process that nobody knows, and writes its number to $STRAYS. */
static void daemonise(void)
{
	const char *path = getenv("STRAYS");
	FILE *f = path ? fopen(path, "a") : NULL;
	int ready[2];
	char byte;

	if (!f || pipe(ready))
		_exit(9);
	if (fork()) {
		fclose(f);
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			_exit(9);
		return;
	}
	setsid();
	if (fork())
		_exit(0);
	alarm(30); /* where nobody kills it */
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	if (write(ready[1], "", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

__attribute__((constructor)) static void attack(void)
{
	const char *how = getenv("HOSTILE");

	if (!how || harness() < 0)
		return;
	if (!strcmp(how, "endless line"))
		for (;;)
			say("all work and no play makes a line of which nobody sees the end");
	/* it is the second plugin: two questions for the first one came before */
	if (!strcmp(how, "many lines"))
		for (;;)
			say("{\"question\":3,\"error\":\"forged\"}\n");
	if (!strcmp(how, "foreign lines"))
		for (;;)
			say("{\"loading\":4611686018427387904}\n");
	if (!strcmp(how, "old question"))
		say("{\"question\":2,\"name\":\"x\"}\n");
	if (!strcmp(how, "no JSON"))
		say("hello\n");
	if (!strcmp(how, "deep"))
		for (int i = 0; i < 100000; i++)
			say(i == 99999 ? "[\n" : "[");
	if (!strcmp(how, "no object"))
		say("[1]\n");
	if (!strcmp(how, "bad names"))
		say("{\"question\":3,\"name\":\"x\",\"ops\":[{\"name\":\"a/b\"}]}\n");
	if (!strcmp(how, "no names"))
		say("{\"question\":3,\"name\":\"x\",\"variants\":[{\"op\":\"example.scale\"}]}\n");
	if (!strcmp(how, "bad device"))
		say("{\"question\":3,\"name\":\"x\",\"variants\":[{\"op\":\"example.scale\",\"name\":\"z\",\"device\":-"
		    "1}]}\n");
	if (!strcmp(how, "many axes"))
		say("{\"question\":3,\"name\":\"x\",\"ops\":[{\"name\":\"a\",\"axes\":[1,2,3,4,5,6,7,8,9]}]}\n");
	if (!strcmp(how, "own answer"))
		say("{\"question\":3,\"name\":\"x\"}\n");
	if (!strcmp(how, "drip"))
		for (;;) {
			say(" ");
			usleep(1000);
			printf("\033[2J words without end\n");
			fflush(stdout);
		}
	if (!strcmp(how, "abort")) {
		fprintf(stderr, "first words\n\033[31mlast \xff words\n");
		abort();
	}
	if (!strcmp(how, "daemon"))
		daemonise();
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "hostile", .help = "an escape \033[31m and a mark \xe2\x80\xae", .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "hostile-load", .version = "1", .variants = variants, .n_variants = 1,
};
