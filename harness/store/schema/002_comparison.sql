-- SPDX-License-Identifier: Apache-2.0
-- Version 2: comparisons of two builds with the raw samples of every process pair, and what certifications found.

-- AUTOINCREMENT: quoted by people, like the number of a run. What a verdict is recomputed from is all here or below.
CREATE TABLE comparison (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	base       TEXT    NOT NULL CHECK (base <> ''), -- as the user named it
	head       TEXT    NOT NULL CHECK (head <> ''),
	suite      TEXT    NOT NULL CHECK (suite <> ''),
	seed       INTEGER NOT NULL,
	started_ns INTEGER NOT NULL CHECK (started_ns > 0),
	machine    TEXT    NOT NULL REFERENCES machine (id),
	base_build TEXT    NOT NULL REFERENCES build (id),
	head_build TEXT    NOT NULL REFERENCES build (id),

	alpha      REAL    NOT NULL CHECK (alpha > 0 AND alpha < 1),
	budget_ns  INTEGER NOT NULL CHECK (budget_ns >= 0),
	max_pairs  INTEGER NOT NULL CHECK (max_pairs > 0),
	family     INTEGER NOT NULL CHECK (family > 0), -- tests that share alpha
	policy     TEXT    NOT NULL,

	-- NULL: under way, or interrupted. The verdict is the one that was given, for a replay to be held against.
	ended_ns   INTEGER CHECK (ended_ns > 0),
	verdict    TEXT,
	exit_code  INTEGER CHECK (exit_code BETWEEN 0 AND 255),
	CONSTRAINT verdict_is_known
		CHECK (verdict IN ('PASS', 'IMPROVED', 'REGRESSED', 'INCONCLUSIVE', 'NOT_MEASURED', 'INCOMPARABLE',
				   'WRONG_RESULT')),
	CONSTRAINT ended_has_verdict
		CHECK ((ended_ns IS NULL) = (verdict IS NULL) AND (ended_ns IS NULL) = (exit_code IS NULL))
) STRICT;
CREATE INDEX comparison_by_machine ON comparison (machine);
CREATE INDEX comparison_by_base_build ON comparison (base_build);
CREATE INDEX comparison_by_head_build ON comparison (head_build);

CREATE TABLE comparison_case (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
	bench_case    INTEGER NOT NULL REFERENCES bench_case (id),
	all_threads   INTEGER NOT NULL CHECK (all_threads IN (0, 1)),
	budget_ns     INTEGER NOT NULL CHECK (budget_ns >= 0),
	timeout_ns    INTEGER NOT NULL CHECK (timeout_ns >= 0),
	memory_bytes  INTEGER NOT NULL CHECK (memory_bytes >= 0),

	control       TEXT    NOT NULL CHECK (control IN ('none', 'aa', 'slower')),
	injected_frac REAL    NOT NULL CHECK (injected_frac >= 0 AND injected_frac < 9e999), -- extra work of 'slower'
	in_base       INTEGER NOT NULL CHECK (in_base IN (0, 1)),
	in_head       INTEGER NOT NULL CHECK (in_head IN (0, 1)),
	reason        TEXT    NOT NULL, -- why it was not measured at all; '': it was
	difference    TEXT    NOT NULL, -- where the outputs of the sides begin to differ; '': they do not
	CONSTRAINT slower_is_slower CHECK (control <> 'slower' OR injected_frac > 0)
) STRICT;
CREATE INDEX comparison_case_by_comparison ON comparison_case (comparison);
CREATE INDEX comparison_case_by_case ON comparison_case (bench_case);
-- A control may be repeated, a case may not.
CREATE UNIQUE INDEX comparison_case_once ON comparison_case (comparison, bench_case) WHERE control = 'none';

-- Two processes that took turns. Pairs of a case follow one another in the order of their ids.
CREATE TABLE pair (
	id                    INTEGER PRIMARY KEY,
	comparison_case       INTEGER NOT NULL REFERENCES comparison_case (id) ON DELETE CASCADE,
	seed                  INTEGER NOT NULL,
	iterations            INTEGER NOT NULL CHECK (iterations >= 0),
	base_extra_iterations INTEGER NOT NULL CHECK (base_extra_iterations >= 0),
	head_extra_iterations INTEGER NOT NULL CHECK (head_extra_iterations >= 0),
	n_blocks              INTEGER NOT NULL CHECK (n_blocks >= 0), -- two samples of either side each
	steady                INTEGER NOT NULL CHECK (steady IN (0, 1)),
	wall_ns               INTEGER NOT NULL CHECK (wall_ns >= 0)
) STRICT;
CREATE INDEX pair_by_case ON pair (comparison_case);

CREATE TABLE pair_side (
	id          INTEGER PRIMARY KEY,
	pair        INTEGER NOT NULL REFERENCES pair (id) ON DELETE CASCADE,
	side        TEXT    NOT NULL CHECK (side IN ('base', 'head')),
	status      TEXT    NOT NULL CHECK (status IN ('ok', 'skipped', 'wrong', 'crashed', 'timeout', 'failed')),
	reason      TEXT    NOT NULL,
	digest      TEXT    NOT NULL,                               -- '' unless the op is exact
	max_rel_err REAL    CHECK (max_rel_err >= 0 AND max_rel_err < 9e999), -- NULL: does not apply
	code_hash   TEXT    NOT NULL,
	samples     BLOB    CHECK (length(samples) > 0),            -- NULL: none; format: sample_blob.h
	UNIQUE (pair, side),
	CONSTRAINT other_than_ok_says_why CHECK (status = 'ok' OR reason <> '')
) STRICT;

CREATE TABLE pair_metric (
	pair_side INTEGER NOT NULL REFERENCES pair_side (id) ON DELETE CASCADE,
	place     INTEGER NOT NULL CHECK (place >= 0),
	tag       TEXT    NOT NULL CHECK (tag <> ''),
	unit      TEXT    NOT NULL,
	better    INTEGER NOT NULL CHECK (better IN (-1, 0, 1)),
	value     REAL    NOT NULL CHECK (value > -9e999 AND value < 9e999),
	PRIMARY KEY (pair_side, place),
	UNIQUE (pair_side, tag)
) STRICT, WITHOUT ROWID;

-- What was compared stays as it was: a comparison that ended takes nothing further.
CREATE TRIGGER case_needs_open_comparison BEFORE INSERT ON comparison_case
WHEN (SELECT ended_ns FROM comparison WHERE id = NEW.comparison) IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'the comparison has ended');
END;
CREATE TRIGGER pair_needs_open_comparison BEFORE INSERT ON pair
WHEN (SELECT c.ended_ns FROM comparison_case k JOIN comparison c ON c.id = k.comparison
      WHERE k.id = NEW.comparison_case) IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'the comparison has ended');
END;

-- What a machine was shown to be able to do; settings and result are JSON objects.
CREATE TABLE certify (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	machine      TEXT    NOT NULL REFERENCES machine (id),
	started_ns   INTEGER NOT NULL CHECK (started_ns > 0),
	ended_ns     INTEGER NOT NULL CHECK (ended_ns >= started_ns),
	gates        INTEGER NOT NULL CHECK (gates >= 0),
	false_alarms INTEGER NOT NULL CHECK (false_alarms BETWEEN 0 AND gates),
	settings     TEXT    NOT NULL CHECK (settings <> ''),
	result       TEXT    NOT NULL CHECK (result <> '')
) STRICT;
CREATE INDEX certify_by_machine ON certify (machine);
