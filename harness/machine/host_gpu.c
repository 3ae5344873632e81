/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/driver/nvidia. */
#include "machine/host_gpu.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host_files.h"

static void model_of(const char *path, char *buf, size_t size)
{
	char *text = assay_host_text("", path), *p = text ? strstr(text, "Model:") : NULL;

	buf[0] = '\0';
	if (p) {
		p += strlen("Model:");
		p += strspn(p, " \t");
		snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
	}
	free(text);
}

void assay_gpu_models(const char *root, char *buf, size_t size)
{
	char pattern[PATH_MAX], model[96], same[96] = "";
	size_t n_same = 0, len = 0;
	glob_t g;

	snprintf(buf, size, "none");
	snprintf(pattern, sizeof(pattern), "%s/proc/driver/nvidia/gpus/*/information", root ? root : "");
	if (glob(pattern, 0, NULL, &g))
		return;
	/* Equal neighbours are counted; one turn more writes the last of them. */
	for (size_t i = 0; i <= g.gl_pathc && len < size; i++) {
		model[0] = '\0';
		if (i < g.gl_pathc)
			model_of(g.gl_pathv[i], model, sizeof(model));
		if (n_same && strcmp(model, same)) {
			if (n_same > 1)
				len += (size_t)snprintf(buf + len, size - len, "%s%zu x %s", len ? "; " : "", n_same,
							same);
			else
				len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "; " : "", same);
			n_same = 0;
		}
		snprintf(same, sizeof(same), "%s", model);
		n_same += model[0] != '\0';
	}
	globfree(&g);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct …": the first word that is a dotted number. */
void assay_gpu_driver(const char *root, char *buf, size_t size)
{
	char line[256], *save = NULL;

	snprintf(buf, size, "none");
	if (!assay_host_line(root, "/proc/driver/nvidia/version", line, sizeof(line)))
		return;
	snprintf(buf, size, "unknown");
	for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		if (isdigit((unsigned char)word[0]) && strchr(word, '.')) {
			snprintf(buf, size, "%s", word);
			return;
		}
}
