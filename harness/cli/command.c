/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/cli.h"

int assay_command(const struct argp *argp, int argc, char **argv, void *args, assay_command_fn *run)
{
	struct assay_settings *s = args;
	struct assay_err err = { 0 };
	struct assay_watcher w;
	int status = 0, rc = assay_settings_init(s, &err);

	if (!rc)
		rc = assay_cli_parse(argp, argc, argv, args, &err);
	if (!rc) {
		assay_watcher_begin(&w);
		w.style.verbose = s->verbose;
		rc = run(args, &w, &status, &err);
		assay_watcher_end(&w);
	}
	assay_settings_release(s);
	return rc ? assay_cli_fail(&err) : status;
}
