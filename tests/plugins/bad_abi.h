/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of ABI BAD_MAJOR.BAD_MINOR. Its constructor must never run. */
#include <stdint.h>
#include <stdlib.h>

#include <assay/plugin.h>

struct other_plugin {
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint32_t size, reserved;
	const char *something_else;
};

__attribute__((constructor)) static void must_not_run(void)
{
	abort();
}

ASSAY_EXPORT extern const struct other_plugin assay_plugin_v1;
ASSAY_EXPORT const struct other_plugin assay_plugin_v1 = {
	ASSAY_PLUGIN_MAGIC, BAD_MAJOR, BAD_MINOR, sizeof(struct other_plugin), 0, "other",
};
