-- SPDX-License-Identifier: Apache-2.0
-- Version 22: how often threads waited as a stack says, and of traces how many spans lie there, with the stack and its ns beside it.

CREATE TABLE profile_wait (
	profile    INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place      INTEGER NOT NULL CHECK (place >= 0),
	frames     BLOB    NOT NULL,
	weight     INTEGER NOT NULL CHECK (weight >= 0), -- ns
	times      INTEGER NOT NULL CHECK (times >= 0),
	longest_ns INTEGER NOT NULL CHECK (longest_ns >= 0),
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;
