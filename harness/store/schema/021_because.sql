-- SPDX-License-Identifier: Apache-2.0
-- Version 21: why a case of a comparison changed. Its functions, with their samples by process pair: two numbers a pair as varints, of
-- base and head. The judge says from it which function to blame. `unknown` says why nothing was sampled.

CREATE TABLE because (
	comparison_case INTEGER PRIMARY KEY REFERENCES comparison_case (id) ON DELETE CASCADE,
	seconds         REAL NOT NULL CHECK (seconds >= 0),
	rate_hz         REAL NOT NULL CHECK (rate_hz >= 0),
	source          TEXT NOT NULL,
	unknown         TEXT NOT NULL,
	seal            TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE because_pair (
	comparison_case INTEGER NOT NULL REFERENCES comparison_case (id) ON DELETE CASCADE,
	place           INTEGER NOT NULL CHECK (place >= 0),
	base_ns         REAL    NOT NULL CHECK (base_ns > 0),
	head_ns         REAL    NOT NULL CHECK (head_ns > 0),
	PRIMARY KEY (comparison_case, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE because_function (
	comparison_case INTEGER NOT NULL REFERENCES comparison_case (id) ON DELETE CASCADE,
	place           INTEGER NOT NULL CHECK (place >= 0),
	name            TEXT    NOT NULL,
	object          TEXT    NOT NULL,
	file            TEXT    NOT NULL,
	line            INTEGER NOT NULL CHECK (line >= 0),
	last_line       INTEGER NOT NULL CHECK (last_line >= line),
	code            TEXT    NOT NULL CHECK (code IN ('unknown', 'same', 'differs')),
	base_count      REAL    CHECK (base_count >= 0), -- instructions of a call; NULL: not counted
	head_count      REAL    CHECK (head_count >= 0),
	weights         BLOB    NOT NULL,
	PRIMARY KEY (comparison_case, place)
) STRICT, WITHOUT ROWID;
