-- SPDX-License-Identifier: Apache-2.0
-- Version 1 of the database of assay: where and what was measured (machine, build), as which case (bench_case), and what
-- came out (run, result).
--
-- Times ending in _ns are integers; points in time are Unix time. 64-bit seeds are kept as the signed integer of the
-- same bits. SQLite turns NaN into NULL, so NOT NULL refuses it; infinities are refused by the CHECKs on every REAL.

-- Where: the facts that decide speed. The id is their digest, so a row never changes.
CREATE TABLE machine (
	id    TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
	label TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE machine_fact (
	machine TEXT    NOT NULL REFERENCES machine (id) ON DELETE CASCADE,
	place   INTEGER NOT NULL CHECK (place >= 0),
	name    TEXT    NOT NULL CHECK (name <> ''),
	value   TEXT    NOT NULL,
	PRIMARY KEY (machine, place)
) STRICT, WITHOUT ROWID;

-- What was measured. The id is a digest of the other columns.
CREATE TABLE build (
	id          TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
	commit_hash TEXT    NOT NULL, -- '' outside a repository
	dirty       INTEGER NOT NULL CHECK (dirty IN (0, 1)),
	compiler    TEXT    NOT NULL,
	flags       TEXT    NOT NULL,
	plugins     TEXT    NOT NULL  -- digest of the build-ids of the plugins that took part
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: the number of a run is quoted by people and never given away a second time.
CREATE TABLE run (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	suite      TEXT    NOT NULL CHECK (suite <> ''),
	seed       INTEGER NOT NULL,
	started_ns INTEGER NOT NULL CHECK (started_ns > 0),
	ended_ns   INTEGER CHECK (ended_ns > 0), -- NULL: under way, or interrupted
	machine    TEXT    NOT NULL REFERENCES machine (id),
	build      TEXT    NOT NULL REFERENCES build (id)
) STRICT;
CREATE INDEX run_by_suite ON run (suite, machine, seed);
CREATE INDEX run_by_machine ON run (machine);
CREATE INDEX run_by_build ON run (build);

-- What surrounded a run: governor, turbo, load, container limits, …
CREATE TABLE environment (
	run   INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	place INTEGER NOT NULL CHECK (place >= 0),
	name  TEXT    NOT NULL CHECK (name <> ''),
	value TEXT    NOT NULL,
	PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- What a key means. A row never changes; limits and outcomes belong to a result.
CREATE TABLE bench_case (
	id      INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE CHECK (key <> ''),
	op      TEXT    NOT NULL CHECK (op <> ''),
	variant TEXT    NOT NULL CHECK (variant <> ''),
	threads INTEGER NOT NULL CHECK (threads > 0),
	cache   TEXT    NOT NULL CHECK (cache IN ('warm', 'cold'))
) STRICT;

CREATE TABLE case_axis (
	bench_case INTEGER NOT NULL REFERENCES bench_case (id) ON DELETE CASCADE,
	place      INTEGER NOT NULL CHECK (place >= 0),
	name       TEXT    NOT NULL CHECK (name <> ''),
	text       TEXT    NOT NULL, -- the value as keys write it
	value      INTEGER NOT NULL, -- the number, or the index of the symbol
	PRIMARY KEY (bench_case, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE result (
	id           INTEGER PRIMARY KEY,
	run          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	bench_case   INTEGER NOT NULL REFERENCES bench_case (id),
	all_threads  INTEGER NOT NULL CHECK (all_threads IN (0, 1)), -- the bench said `all`, not a number
	budget_ns    INTEGER NOT NULL CHECK (budget_ns >= 0),
	timeout_ns   INTEGER NOT NULL CHECK (timeout_ns >= 0),
	memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),     -- limit of the worker, 0 none

	status       TEXT    NOT NULL CHECK (status IN ('ok', 'skipped', 'wrong', 'crashed', 'timeout', 'failed')),
	reason       TEXT    NOT NULL,
	checked      INTEGER NOT NULL CHECK (checked IN (0, 1)),
	correct      INTEGER NOT NULL CHECK (correct IN (0, 1)),
	digest       TEXT    NOT NULL,                               -- '' unless the op is exact
	max_rel_err  REAL    CHECK (max_rel_err >= 0 AND max_rel_err < 9e999), -- NULL: does not apply
	code_hash    TEXT    NOT NULL,

	steady       INTEGER NOT NULL CHECK (steady IN (0, 1)),
	converged    INTEGER NOT NULL CHECK (converged IN (0, 1)),
	warmup_ns    INTEGER NOT NULL CHECK (warmup_ns >= 0),
	n_samples    INTEGER NOT NULL CHECK (n_samples >= 0),
	iterations   INTEGER NOT NULL CHECK (iterations >= 0),       -- per sample
	-- Statistics of the samples, kept beside them so that trends need not decode them; per iteration.
	median_ns    REAL    NOT NULL CHECK (median_ns >= 0 AND median_ns < 9e999),
	ci95_lo_ns   REAL    NOT NULL CHECK (ci95_lo_ns >= 0 AND ci95_lo_ns < 9e999),
	ci95_hi_ns   REAL    NOT NULL CHECK (ci95_hi_ns >= ci95_lo_ns AND ci95_hi_ns < 9e999),
	min_ns       REAL    NOT NULL CHECK (min_ns >= 0 AND min_ns < 9e999),
	mad_ns       REAL    NOT NULL CHECK (mad_ns >= 0 AND mad_ns < 9e999),
	dropped_frac REAL    NOT NULL CHECK (dropped_frac BETWEEN 0 AND 1),

	cpus         TEXT    NOT NULL, -- where the threads ran, in thread order: '0,2,4'
	numa_node    INTEGER NOT NULL CHECK (numa_node >= -1),
	copies       INTEGER NOT NULL CHECK (copies >= 0),
	started_ns   INTEGER NOT NULL CHECK (started_ns >= 0),

	UNIQUE (run, bench_case),
	CONSTRAINT ok_is_measured CHECK (status <> 'ok' OR (n_samples > 0 AND median_ns > 0)),
	CONSTRAINT ok_is_correct CHECK (status <> 'ok' OR checked = 0 OR correct = 1),
	CONSTRAINT other_than_ok_says_why CHECK (status = 'ok' OR reason <> '')
) STRICT;
CREATE INDEX result_by_status ON result (run, status);
CREATE INDEX result_by_case ON result (bench_case, status);

-- What was measured stays as it was: a run that ended takes no further results.
CREATE TRIGGER result_needs_open_run BEFORE INSERT ON result
WHEN (SELECT ended_ns FROM run WHERE id = NEW.run) IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'the run has ended');
END;

-- Raw samples in a table of their own, so that lists and trends read past none of them. Format: sample_blob.h.
CREATE TABLE result_samples (
	result  INTEGER PRIMARY KEY REFERENCES result (id) ON DELETE CASCADE,
	encoded BLOB    NOT NULL CHECK (length(encoded) > 0)
) STRICT;

CREATE TABLE result_metric (
	result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
	place  INTEGER NOT NULL CHECK (place >= 0),
	tag    TEXT    NOT NULL CHECK (tag <> ''),
	unit   TEXT    NOT NULL,
	better INTEGER NOT NULL CHECK (better IN (-1, 0, 1)),
	value  REAL    NOT NULL CHECK (value > -9e999 AND value < 9e999),
	PRIMARY KEY (result, place),
	UNIQUE (result, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE result_counter (
	result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
	place  INTEGER NOT NULL CHECK (place >= 0),
	name   TEXT    NOT NULL CHECK (name <> ''),
	source TEXT    NOT NULL,
	value  REAL    NOT NULL CHECK (value > -9e999 AND value < 9e999),
	PRIMARY KEY (result, place),
	UNIQUE (result, name, source)
) STRICT, WITHOUT ROWID;

-- A named set of runs of one suite on one machine. A run in it cannot be deleted.
CREATE TABLE baseline (
	id       INTEGER PRIMARY KEY,
	name     TEXT    NOT NULL UNIQUE CHECK (name <> ''),
	suite    TEXT    NOT NULL CHECK (suite <> ''),
	machine  TEXT    NOT NULL REFERENCES machine (id),
	saved_ns INTEGER NOT NULL CHECK (saved_ns > 0)
) STRICT;
CREATE INDEX baseline_by_machine ON baseline (machine);

CREATE TABLE baseline_run (
	baseline INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
	run      INTEGER NOT NULL REFERENCES run (id),
	PRIMARY KEY (baseline, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_run_by_run ON baseline_run (run);
