-- SPDX-License-Identifier: Apache-2.0
-- Version 18: profiles. One is its distinct stacks with their weights; a stack is the places of its frames, the outermost first, as
-- varints. Several may have one name, of which the newest is meant; what has a name is pruned only where a newer one has it, too.

CREATE TABLE profile (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL CHECK (kind <> ''),
	name          TEXT    NOT NULL,
	what          TEXT    NOT NULL,
	is_case       INTEGER NOT NULL CHECK (is_case IN (0, 1)), -- `what` is the key of a case, otherwise a command
	unit          TEXT    NOT NULL CHECK (unit <> ''),
	source        TEXT    NOT NULL,
	started_ns    INTEGER NOT NULL CHECK (started_ns > 0),
	rate_hz       REAL    NOT NULL CHECK (rate_hz >= 0),
	seconds       REAL    NOT NULL CHECK (seconds >= 0),
	lost          INTEGER NOT NULL CHECK (lost >= 0),
	truncated     INTEGER NOT NULL CHECK (truncated >= 0),
	unresolved    INTEGER NOT NULL CHECK (unresolved >= 0),
	overhead_frac REAL    CHECK (overhead_frac >= 0),
	timed_weight  INTEGER NOT NULL CHECK (timed_weight >= 0),
	iteration_ns  REAL    CHECK (iteration_ns >= 0),
	machine       TEXT    NOT NULL REFERENCES machine (id),
	build         TEXT    REFERENCES build (id), -- NULL: of a program, whose build is not known
	seal          TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX profile_by_name ON profile (name, started_ns);
CREATE INDEX profile_by_machine ON profile (machine);
CREATE INDEX profile_by_build ON profile (build);

CREATE TABLE profile_thread (
	profile INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place   INTEGER NOT NULL CHECK (place >= 0),
	name    TEXT    NOT NULL,
	weight  INTEGER NOT NULL CHECK (weight >= 0),
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_frame (
	profile     INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place       INTEGER NOT NULL CHECK (place >= 0),
	kind        TEXT    NOT NULL CHECK (kind IN ('code', 'inlined', 'label')),
	name        TEXT    NOT NULL,
	object      TEXT    NOT NULL,
	file        TEXT    NOT NULL,
	line        INTEGER NOT NULL CHECK (line >= 0),
	code_offset INTEGER NOT NULL,
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_stack (
	profile INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place   INTEGER NOT NULL CHECK (place >= 0),
	weight  INTEGER NOT NULL CHECK (weight > 0),
	frames  BLOB    NOT NULL,
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;
