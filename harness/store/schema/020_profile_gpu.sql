-- SPDX-License-Identifier: Apache-2.0
-- Version 20: what profiles of GPUs have beside their stacks: what each GPU used, and numbers of each kernel or kind of copy, with
-- its stack beside it. What a driver does not tell is NULL.

CREATE TABLE profile_gpu (
	profile INTEGER PRIMARY KEY REFERENCES profile (id) ON DELETE CASCADE,
	why     TEXT    NOT NULL -- kernels were not watched; '': they were
) STRICT;

CREATE TABLE profile_gpu_device (
	profile           INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place             INTEGER NOT NULL CHECK (place >= 0),
	gpu               INTEGER NOT NULL CHECK (gpu >= 0),
	name              TEXT    NOT NULL,
	busy_frac         REAL,
	memory_busy_frac  REAL,
	mean_watts        REAL,
	most_watts        REAL,
	joules            REAL,
	memory_bytes      INTEGER NOT NULL CHECK (memory_bytes >= 0),
	most_memory_bytes INTEGER NOT NULL CHECK (most_memory_bytes >= 0),
	most_celsius      REAL,
	samples           INTEGER NOT NULL CHECK (samples >= 0),
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_gpu_work (
	profile        INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place          INTEGER NOT NULL CHECK (place >= 0),
	frames         BLOB    NOT NULL,
	weight         INTEGER NOT NULL CHECK (weight >= 0), -- ns
	calls          INTEGER NOT NULL CHECK (calls > 0),
	least_ns       INTEGER NOT NULL CHECK (least_ns >= 0),
	most_ns        INTEGER NOT NULL CHECK (most_ns >= 0),
	bytes          INTEGER NOT NULL CHECK (bytes >= 0),
	registers      INTEGER NOT NULL CHECK (registers >= 0),
	block_threads  INTEGER NOT NULL CHECK (block_threads >= 0),
	blocks         INTEGER NOT NULL CHECK (blocks >= 0),
	shared_bytes   INTEGER NOT NULL CHECK (shared_bytes >= 0),
	occupancy_frac REAL,
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;
