/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages that the code of a plugin lies on. They are the file's, the same for every process until it is written
 * again, and where they lie in the caches favours one build or the other by 2 % in all pairs.
 */
#ifndef ASSAY_WORKER_CASE_CODE_PAGES_H
#define ASSAY_WORKER_CASE_CODE_PAGES_H

/*
 * Give what is read-only in a loaded plugin, code and constants, new pages of this process, at the same addresses and
 * under the name of the file. Where the system forbids that, the pages stay those of the file.
 */
void assay_code_pages_draw(void *dl);

#endif
