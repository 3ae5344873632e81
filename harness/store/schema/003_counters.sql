-- SPDX-License-Identifier: Apache-2.0
-- Version 3: which rung of evidence counts and derived metrics stand on, and why something could not be counted.

ALTER TABLE result_metric ADD COLUMN source TEXT NOT NULL DEFAULT '';
-- derived from counts that were multiplexed
ALTER TABLE result_metric ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1));
ALTER TABLE result_counter ADD COLUMN how TEXT NOT NULL DEFAULT '';
ALTER TABLE result_counter ADD COLUMN per_iteration INTEGER NOT NULL DEFAULT 0 CHECK (per_iteration IN (0, 1));
-- share of the time in which it counted; below 1 the value is an estimate
ALTER TABLE result_counter ADD COLUMN running_frac REAL NOT NULL DEFAULT 1 CHECK (running_frac > 0 AND running_frac <= 1);

-- What used to be one word is a rung and what it was read with.
UPDATE result_counter SET how = source, source = 'os' WHERE source NOT IN ('', 'op', 'assay');

CREATE TABLE result_unavailable (
	result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
	place  INTEGER NOT NULL CHECK (place >= 0),
	name   TEXT    NOT NULL CHECK (name <> ''),
	source TEXT    NOT NULL,
	reason TEXT    NOT NULL CHECK (reason <> ''),
	PRIMARY KEY (result, place)
) STRICT, WITHOUT ROWID;

ALTER TABLE pair_metric ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE pair_metric ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1));

CREATE TABLE pair_counter (
	pair_side     INTEGER NOT NULL REFERENCES pair_side (id) ON DELETE CASCADE,
	place         INTEGER NOT NULL CHECK (place >= 0),
	name          TEXT    NOT NULL CHECK (name <> ''),
	source        TEXT    NOT NULL,
	value         REAL    NOT NULL CHECK (value > -9e999 AND value < 9e999),
	how           TEXT    NOT NULL,
	per_iteration INTEGER NOT NULL CHECK (per_iteration IN (0, 1)),
	running_frac  REAL    NOT NULL CHECK (running_frac > 0 AND running_frac <= 1),
	PRIMARY KEY (pair_side, place),
	UNIQUE (pair_side, name, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE pair_unavailable (
	pair_side INTEGER NOT NULL REFERENCES pair_side (id) ON DELETE CASCADE,
	place     INTEGER NOT NULL CHECK (place >= 0),
	name      TEXT    NOT NULL CHECK (name <> ''),
	source    TEXT    NOT NULL,
	reason    TEXT    NOT NULL CHECK (reason <> ''),
	PRIMARY KEY (pair_side, place)
) STRICT, WITHOUT ROWID;
