-- SPDX-License-Identifier: Apache-2.0
-- Version 15: runs of other tools. What their files do not say is unknown: threads 0, cache ''.

-- SQLite cannot change a CHECK, so the table is made again. Nothing refers to it but by its name.
CREATE TABLE bench_case_next (
	id      INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE CHECK (key <> ''),
	op      TEXT    NOT NULL CHECK (op <> ''),
	variant TEXT    NOT NULL CHECK (variant <> ''),
	threads INTEGER NOT NULL CHECK (threads >= 0),
	cache   TEXT    NOT NULL CHECK (cache IN ('warm', 'cold', ''))
) STRICT;
INSERT INTO bench_case_next (id, key, op, variant, threads, cache) SELECT id, key, op, variant, threads, cache FROM bench_case;
DROP TABLE bench_case;
ALTER TABLE bench_case_next RENAME TO bench_case;

ALTER TABLE run ADD COLUMN imported TEXT NOT NULL DEFAULT '';      -- the format: 'google-benchmark'; '' measured by assay
ALTER TABLE run ADD COLUMN import_digest TEXT NOT NULL DEFAULT ''; -- of all bytes of the file
ALTER TABLE run ADD COLUMN label TEXT NOT NULL DEFAULT '';         -- what the user calls it
-- 1: nobody said when it was measured; started_ns is when it was imported.
ALTER TABLE run ADD COLUMN started_unknown INTEGER NOT NULL DEFAULT 0 CHECK (started_unknown IN (0, 1));
CREATE INDEX run_by_import ON run (import_digest) WHERE import_digest <> '';
