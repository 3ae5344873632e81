/* SPDX-License-Identifier: Apache-2.0 */
#include "llama_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel_library.h"

#define REFUSE(why, ...) (snprintf((why)->text, sizeof((why)->text), __VA_ARGS__), -1)

/* struct llama_model_params of any version: a large struct is returned and passed through memory, whatever it holds. */
struct params {
	uint64_t words[64];
};

static const char *library(void)
{
	const char *named = getenv("ASSAY_LLAMA");

	return named && *named ? named : "libllama.so";
}

static void *load(struct assay_reason *why)
{
	void *dl = dlopen(library(), RTLD_NOW | RTLD_LOCAL);

	if (!dl)
		snprintf(why->text, sizeof(why->text),
			 "%s cannot be loaded: build llama.cpp, and name its libllama.so in ASSAY_LLAMA", library());
	return dl;
}

int llama_library_find(struct assay_reason *why)
{
	return load(why) ? 0 : -1;
}

static void say_nothing(int level, const char *text, void *data)
{
	(void)level;
	(void)text;
	(void)data;
}

/* Its backends are libraries, too, which lie beside it; a build that contains them has no need of this. */
static void load_backends(void *dl, const void *of)
{
	void (*load_from)(const char *folder);
	char folder[4096];
	Dl_info self;
	char *end;

	if (!kernel_library_find(dl, "ggml_backend_load_all_from_path", &load_from) || !dladdr(of, &self))
		return;
	snprintf(folder, sizeof(folder), "%s", self.dli_fname);
	end = strrchr(folder, '/');
	if (end) {
		*end = '\0';
		load_from(folder);
	}
}

int llama_library_open(struct llama_library *l, const char *path, struct assay_reason *why)
{
	struct params (*defaults)(void);
	void *(*load_model)(const char *file, struct params p);
	const void *(*vocab_of)(const void *model);
	void (*log_to)(void (*log)(int level, const char *text, void *data), void *data);
	void *dl = load(why);
	struct params p = { { 0 } };

	if (!dl)
		return -1;
	if (!kernel_library_find(dl, "llama_model_default_params", &defaults) ||
	    !kernel_library_find(dl, "llama_model_load_from_file", &load_model) ||
	    !kernel_library_find(dl, "llama_model_get_vocab", &vocab_of) ||
	    !kernel_library_find(dl, "llama_log_set", &log_to) ||
	    !kernel_library_find(dl, "llama_model_free", &l->free_model) ||
	    !kernel_library_find(dl, "llama_tokenize", &l->tokenize) ||
	    !kernel_library_find(dl, "llama_detokenize", &l->detokenize))
		return REFUSE(why, "%s lacks a function of llama.h, which it has since 2025", library());
	log_to(say_nothing, NULL);
	load_backends(dl, dlsym(dl, "llama_model_default_params"));
	p = defaults();
	l->model = load_model(path, p);
	if (!l->model)
		return REFUSE(why, "%s cannot load the vocabulary", library());
	l->vocab = vocab_of(l->model);
	return 0;
}

void llama_library_close(struct llama_library *l)
{
	if (l->model)
		l->free_model(l->model);
	*l = (struct llama_library){ .model = NULL };
}
