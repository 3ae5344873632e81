/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory's child: loads plugins and answers what they offer and what cases take. */
#ifndef ASSAY_WORKER_INVENTORY_CHILD_H
#define ASSAY_WORKER_INVENTORY_CHILD_H

/* Its argv[1]. */
#define ASSAY_INVENTORY_COMMAND "__inventory"
/*
 * Lines from the controller, and what the child answers:
 *     {"load": "path", "host": {…}}                             {"name", "ops", "variants", …} or {"error": "…"}
 *     {"ready": true}                                           {}
 *     {"place": true}                                           {"placed": true}
 *     {"case": {"op", "variant", "axes", "threads", "cold"}}    {"supported", "timed", "reason", …}
 * Each question has a number, "question", that its answer repeats. Of cases the answer may also be
 * {"refused": "…"}, by the op, or {"broken": "…"}: what the op describes cannot be. A path has the letter of a part
 * before it.
 * Ends when the socket does. Returns the exit status of the process.
 */
int assay_inventory_child(int fd);

#endif
