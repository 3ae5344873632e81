-- SPDX-License-Identifier: Apache-2.0
-- Version 7: what `all` threads meant in a run. Until then it stood only in a fact for people: "compact, one thread a core, all = 2 threads
-- on CPUs 0,1".

ALTER TABLE run ADD COLUMN all_threads INTEGER CHECK (all_threads > 0); -- NULL: unknown
ALTER TABLE run ADD COLUMN all_cpus TEXT NOT NULL DEFAULT '';           -- in thread order, as result.cpus; '' unknown

UPDATE run SET all_threads = nullif(CAST(substr(e.value, instr(e.value, 'all = ') + length('all = ')) AS INTEGER), 0)
FROM environment e
WHERE e.run = run.id AND e.name = 'placement' AND instr(e.value, 'all = ') > 0;

-- A fact of 255 bytes was cut.
UPDATE run SET all_cpus = ltrim(substr(e.value, instr(e.value, ' on CPU') + length(' on CPU')), 's ')
FROM environment e
WHERE e.run = run.id AND e.name = 'placement' AND run.all_threads IS NOT NULL AND length(e.value) < 255
	AND e.value GLOB '* on CPU* [0-9]*' AND ltrim(substr(e.value, instr(e.value, ' on CPU') + length(' on CPU')), 's ')
	NOT GLOB '*[^0-9,]*';
