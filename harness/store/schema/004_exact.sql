-- SPDX-License-Identifier: Apache-2.0
-- Version 4: exact counts by function. They stand beside a timed run or alone; no machine belongs to them, since they are those of a
-- simulated processor.

CREATE TABLE exact_run (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	run         INTEGER UNIQUE REFERENCES run (id) ON DELETE CASCADE, -- NULL: taken alone
	suite       TEXT    NOT NULL CHECK (suite <> ''),
	seed        INTEGER NOT NULL,
	started_ns  INTEGER NOT NULL CHECK (started_ns > 0),
	build       TEXT    NOT NULL REFERENCES build (id),
	arch        TEXT    NOT NULL,
	tool        TEXT    NOT NULL, -- '' where there was none
	libc        TEXT    NOT NULL,
	cache       TEXT    NOT NULL CHECK (cache <> ''), -- name and sizes of the model
	features    TEXT    NOT NULL,
	environment TEXT    NOT NULL
) STRICT;
CREATE INDEX exact_run_by_suite ON exact_run (suite);
CREATE INDEX exact_run_by_build ON exact_run (build);

CREATE TABLE exact_case (
	id        INTEGER PRIMARY KEY,
	exact_run INTEGER NOT NULL REFERENCES exact_run (id) ON DELETE CASCADE,
	key       TEXT    NOT NULL CHECK (key <> ''),
	status    TEXT    NOT NULL CHECK (status IN ('ok', 'skipped', 'wrong', 'crashed', 'timeout', 'failed')),
	reason    TEXT    NOT NULL,
	UNIQUE (exact_run, key),
	CONSTRAINT other_than_ok_says_why CHECK (status = 'ok' OR reason <> '')
) STRICT;

-- What each function spent itself; the counts of a case are their sum.
CREATE TABLE exact_function (
	exact_case     INTEGER NOT NULL REFERENCES exact_case (id) ON DELETE CASCADE,
	name           TEXT    NOT NULL CHECK (name <> ''),
	object         TEXT    NOT NULL, -- '' unknown
	instructions   INTEGER NOT NULL CHECK (instructions >= 0),
	data_reads     INTEGER NOT NULL CHECK (data_reads >= 0),
	data_writes    INTEGER NOT NULL CHECK (data_writes >= 0),
	i1_misses      INTEGER NOT NULL CHECK (i1_misses >= 0),
	d1_misses      INTEGER NOT NULL CHECK (d1_misses >= 0),
	ll_misses      INTEGER NOT NULL CHECK (ll_misses >= 0),
	branches       INTEGER NOT NULL CHECK (branches >= 0),
	mispredictions INTEGER NOT NULL CHECK (mispredictions >= 0),
	PRIMARY KEY (exact_case, name, object)
) STRICT, WITHOUT ROWID;
