/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of ggml's backend for CPUs: $STANDIN_GGML is its version and, behind a space, the type of its inputs. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *ggml_version(void);
EXPORT void ggml_cpu_init(void);
EXPORT size_t ggml_row_size(int type, int64_t n);
EXPORT const void *ggml_get_type_traits_cpu(int type);

static void nothing(void)
{
}

const char *ggml_version(void)
{
	return getenv("STANDIN_GGML");
}

void ggml_cpu_init(void)
{
}

size_t ggml_row_size(int type, int64_t n)
{
	return (size_t)n;
}

const void *ggml_get_type_traits_cpu(int type)
{
	static struct {
		void (*from_float)(void), (*vec_dot)(void);
		int inputs;
		int64_t n_rows;
	} traits = { nothing, nothing, 0, 1 };

	traits.inputs = atoi(getenv("STANDIN_GGML") + 6);
	return &traits;
}
