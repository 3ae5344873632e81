/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a time: who asks waits until it is over. */
#include "worker/case/device_watch.h"

#include <pthread.h>
#include <stdlib.h>

enum turn { NOBODY, LOOK, LOOKED, END };

struct assay_device_watch {
	struct assay_nvml *nvml;
	unsigned index;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum turn turn;
	/* of the last look */
	struct assay_device_state state;
	struct assay_nvml_use use;
	int rc;
};

static void *watch(void *arg)
{
	struct assay_device_watch *w = arg;

	pthread_mutex_lock(&w->lock);
	while (w->turn != END) {
		if (w->turn != LOOK) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		w->rc = assay_nvml_state(w->nvml, w->index, &w->state, NULL);
		if (!w->rc)
			w->rc = assay_nvml_use(w->nvml, w->index, &w->use, NULL);
		w->turn = LOOKED;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct assay_device_watch *assay_device_watch_new(struct assay_nvml *n, unsigned index)
{
	struct assay_device_watch *w = calloc(1, sizeof(*w));

	if (w) {
		w->nvml = n;
		w->index = index;
		pthread_mutex_init(&w->lock, NULL);
		pthread_cond_init(&w->changed, NULL);
	}
	if (!w || pthread_create(&w->thread, NULL, watch, w)) {
		assay_nvml_close(n);
		free(w);
		return NULL;
	}
	return w;
}

void assay_device_watch_free(struct assay_device_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->turn = END;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	assay_nvml_close(w->nvml);
	free(w);
}

int assay_device_watch_look(struct assay_device_watch *w, struct assay_device_state *state, struct assay_nvml_use *use)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	w->turn = LOOK;
	pthread_cond_broadcast(&w->changed);
	while (w->turn != LOOKED)
		pthread_cond_wait(&w->changed, &w->lock);
	*state = w->state;
	*use = w->use;
	rc = w->rc;
	pthread_mutex_unlock(&w->lock);
	return rc;
}
