/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages that the code of a plugin lies on. They are the file's, the same for every process until the file is
 * written again, and their place in the caches can favour one build over the other by 2 % in all pairs.
 */
#ifndef ASSAY_WORKER_CASE_CODE_PAGES_H
#define ASSAY_WORKER_CASE_CODE_PAGES_H

/*
 * Give what is read-only in a loaded plugin, code and constants, new pages of this process, at the same addresses and
 * under the name of the file. Where the system forbids that, the pages stay those of the file.
 */
void assay_code_pages_draw(void *dl);

#endif
