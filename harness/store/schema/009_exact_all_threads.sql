-- SPDX-License-Identifier: Apache-2.0
-- Version 9: whether the bench of an exact count said `all`, since policies and manifests may name the case by t=all. Counts beside a timed
-- run or comparison get it from there; of counts that were taken alone before, nothing is known.

ALTER TABLE exact_case ADD COLUMN all_threads INTEGER NOT NULL DEFAULT 0 CHECK (all_threads IN (0, 1));

UPDATE exact_case SET all_threads = 1
FROM exact_run e, bench_case b
WHERE e.id = exact_case.exact_run AND b.key = exact_case.key AND (
	EXISTS (SELECT 1 FROM result r WHERE r.run = e.run AND r.bench_case = b.id AND r.all_threads)
	OR EXISTS (SELECT 1 FROM comparison_case c WHERE c.comparison = e.comparison AND c.bench_case = b.id AND c.all_threads));
