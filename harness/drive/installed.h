/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what is installed beside the running program: bench files, baselines, plugins, headers. */
#ifndef ASSAY_DRIVE_INSTALLED_H
#define ASSAY_DRIVE_INSTALLED_H

#include <stddef.h>

#include "base/text.h"

/* Enough for any path of these and a file name below it. */
#define ASSAY_INSTALLED_PATH_MAX 4096

/* The folder of bench files, of baselines, of plugins. ASSAY_ENOTFOUND where there is none. */
int assay_installed_bench_dir(char *buf, size_t size, struct assay_err *err);
int assay_installed_baseline_dir(char *buf, size_t size, struct assay_err *err);
int assay_installed_plugin_dir(char *buf, size_t size, struct assay_err *err);
/* The folder of the jobs that gate a change on GitHub and GitLab. */
int assay_installed_template_dir(char *buf, size_t size, struct assay_err *err);
/* The folder that holds assay/plugin.h, for -I. */
int assay_installed_include_dir(char *buf, size_t size, struct assay_err *err);
/* Append the paths of the *.so in @dir, sorted. ASSAY_EIO when it cannot be read. */
int assay_installed_list(const char *dir, struct assay_strings *out, struct assay_err *err);
/* The same of the installed plugins. */
int assay_installed_plugins(struct assay_strings *out, struct assay_err *err);

#endif
