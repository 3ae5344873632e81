-- SPDX-License-Identifier: Apache-2.0
-- Version 19: what profiles of the heap have beside their stacks: totals, and the numbers of each call site. A site has its stack
-- beside it, as profile_stack has, because one that only allocated nothing weighs nothing. Sampled numbers are estimates: reals.

CREATE TABLE profile_heap (
	profile       INTEGER PRIMARY KEY REFERENCES profile (id) ON DELETE CASCADE,
	processes     INTEGER NOT NULL CHECK (processes > 0),
	sample_bytes  INTEGER NOT NULL CHECK (sample_bytes >= 0), -- 0: every allocation was seen
	peak_clock    REAL    NOT NULL,
	blocks        REAL    NOT NULL,
	bytes         REAL    NOT NULL,
	live_blocks   REAL    NOT NULL,
	live_bytes    REAL    NOT NULL,
	most_blocks   REAL    NOT NULL,
	most_bytes    REAL    NOT NULL,
	peak_blocks   REAL    NOT NULL,
	peak_bytes    REAL    NOT NULL,
	age_bytes     REAL    NOT NULL,
	largest_bytes INTEGER NOT NULL CHECK (largest_bytes >= 0),
	samples       INTEGER NOT NULL CHECK (samples >= 0)
) STRICT;

CREATE TABLE profile_site (
	profile       INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place         INTEGER NOT NULL CHECK (place >= 0),
	frames        BLOB    NOT NULL,
	blocks        REAL    NOT NULL,
	bytes         REAL    NOT NULL,
	live_blocks   REAL    NOT NULL,
	live_bytes    REAL    NOT NULL,
	most_blocks   REAL    NOT NULL,
	most_bytes    REAL    NOT NULL,
	peak_blocks   REAL    NOT NULL,
	peak_bytes    REAL    NOT NULL,
	age_bytes     REAL    NOT NULL,
	largest_bytes INTEGER NOT NULL CHECK (largest_bytes >= 0),
	samples       INTEGER NOT NULL CHECK (samples >= 0),
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;
