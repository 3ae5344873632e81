/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side of the inventory: loads plugins and answers in JSON lines on a socket. */
#ifndef ASSAY_WORKER_INVENTORY_CHILD_H
#define ASSAY_WORKER_INVENTORY_CHILD_H

/*
 * Lines from the controller, and what the child answers:
 *     {"host": {…}, "plugins": ["path", …]}
 *         for each: {"loading": i}, then {"plugin": i, …} or {"plugin": i, "error": "…"};
 *         at the end {"loaded": true, "devices": […]}
 *     {"case": {"op", "variant", "axes", "threads", "cold"}}
 *         {"supported", "timed", "reason", "cost", …} or {"refused": "…"}
 * Ends when the socket does. Returns the exit status of the process.
 */
int assay_inventory_child(int fd);

#endif
