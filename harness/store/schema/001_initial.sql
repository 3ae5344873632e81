-- SPDX-License-Identifier: Apache-2.0
-- Version 1 of the database of assay.
--
-- Times ending in _ns are integers; points in time are Unix time. 64-bit seeds are kept as the signed integer of the
-- same bits. SQLite turns NaN into NULL, so NOT NULL refuses it; infinities are refused by the CHECKs on every REAL.
-- There are no triggers and no views, and connections have both switched off.

-- ---- where and what was measured ----

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
	id            TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
	commit_hash   TEXT    NOT NULL, -- of the program; '' outside a repository
	dirty         INTEGER NOT NULL CHECK (dirty IN (0, 1)),
	compiler      TEXT    NOT NULL,
	flags         TEXT    NOT NULL,
	plugins       TEXT    NOT NULL, -- digest of the build-ids of the plugins that took part
	plugin_commit TEXT    NOT NULL, -- '': the program's own plugins, or not known
	plugin_dirty  INTEGER NOT NULL CHECK (plugin_dirty IN (0, 1))
) STRICT, WITHOUT ROWID;

-- What a key means. A row never changes; limits and outcomes belong to a result.
CREATE TABLE bench_case (
	id      INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE CHECK (key <> ''),
	op      TEXT    NOT NULL CHECK (op <> ''),
	variant TEXT    NOT NULL CHECK (variant <> ''),
	threads INTEGER NOT NULL CHECK (threads >= 0),               -- 0: an import does not say
	cache   TEXT    NOT NULL CHECK (cache IN ('warm', 'cold', '', '-')) -- '' likewise, '-' a program
) STRICT;

CREATE TABLE case_axis (
	bench_case INTEGER NOT NULL REFERENCES bench_case (id) ON DELETE CASCADE,
	place      INTEGER NOT NULL CHECK (place >= 0),
	name       TEXT    NOT NULL CHECK (name <> ''),
	text       TEXT    NOT NULL, -- the value as keys write it
	value      INTEGER NOT NULL, -- the number, or the index of the symbol
	PRIMARY KEY (bench_case, place)
) STRICT, WITHOUT ROWID;

-- A case on a machine: its results are a history.
CREATE TABLE series (
	id         INTEGER PRIMARY KEY,
	bench_case INTEGER NOT NULL REFERENCES bench_case (id),
	machine    TEXT    NOT NULL REFERENCES machine (id),
	UNIQUE (bench_case, machine)
) STRICT;
CREATE INDEX series_by_machine ON series (machine);

-- ---- runs ----

-- AUTOINCREMENT: the number of a run is quoted by people and never given away a second time.
CREATE TABLE run (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	suite           TEXT    NOT NULL CHECK (suite <> ''),
	seed            INTEGER NOT NULL,
	started_ns      INTEGER NOT NULL CHECK (started_ns > 0),
	ended_ns        INTEGER CHECK (ended_ns > 0), -- NULL: under way, or interrupted
	machine         TEXT    NOT NULL REFERENCES machine (id),
	build           TEXT    NOT NULL REFERENCES build (id),
	all_threads     INTEGER CHECK (all_threads > 0), -- what `all` stood for; NULL: not known
	all_cpus        TEXT    NOT NULL,                -- and where these threads ran: '0,2,4'
	imported        TEXT    NOT NULL,                -- the format it came from; '' measured here
	import_digest   TEXT    NOT NULL,                -- of the imported file
	label           TEXT    NOT NULL,
	started_unknown INTEGER NOT NULL CHECK (started_unknown IN (0, 1)), -- the file says no time: it is that of the import
	places          TEXT    NOT NULL                 -- options that repeat it, as a shell takes them
) STRICT;
CREATE INDEX run_by_suite ON run (suite, machine, seed, started_ns);
CREATE INDEX run_by_time ON run (started_ns);
CREATE INDEX run_by_machine ON run (machine);
CREATE INDEX run_by_build ON run (build);
CREATE INDEX run_by_import ON run (import_digest) WHERE import_digest <> '';

-- What surrounded a run: governor, turbo, load, container limits, …
CREATE TABLE environment (
	run   INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	place INTEGER NOT NULL CHECK (place >= 0),
	name  TEXT    NOT NULL CHECK (name <> ''),
	value TEXT    NOT NULL,
	PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE result (
	id              INTEGER PRIMARY KEY,
	run             INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	bench_case      INTEGER NOT NULL REFERENCES bench_case (id),
	series          INTEGER NOT NULL REFERENCES series (id),
	all_threads     INTEGER NOT NULL CHECK (all_threads IN (0, 1)), -- the bench said `all`, not a number
	budget_ns       INTEGER NOT NULL CHECK (budget_ns >= 0),
	timeout_ns      INTEGER NOT NULL CHECK (timeout_ns >= 0),
	memory_bytes    INTEGER NOT NULL CHECK (memory_bytes >= 0),     -- limit of the worker, 0 none

	status          TEXT    NOT NULL CHECK (status IN ('ok', 'skipped', 'wrong', 'crashed', 'timeout', 'failed')),
	reason          TEXT    NOT NULL,
	is_reference    INTEGER NOT NULL CHECK (is_reference IN (0, 1)), -- its variant is what others are measured by
	checked         INTEGER NOT NULL CHECK (checked IN (0, 1)),
	correct         INTEGER NOT NULL CHECK (correct IN (0, 1)),
	digest          TEXT    NOT NULL,                               -- '' unless the op is exact
	max_rel_err     REAL    CHECK (max_rel_err >= 0 AND max_rel_err < 9e999), -- NULL: does not apply
	deviates        INTEGER NOT NULL,                               -- bits: on which edges of the op it deviates
	deviation       TEXT    NOT NULL,                               -- the first place where it does
	code_hash       TEXT    NOT NULL,
	log             TEXT    NOT NULL,                               -- what the worker said last
	histograms      TEXT    NOT NULL,                               -- a line each: model/histogram.h
	raw_metrics     TEXT    NOT NULL,                               -- of a program, a line a sample: model/result.h

	steady          INTEGER NOT NULL CHECK (steady IN (0, 1)),
	converged       INTEGER NOT NULL CHECK (converged IN (0, 1)),
	warmup_ns       INTEGER NOT NULL CHECK (warmup_ns >= 0),
	n_samples       INTEGER NOT NULL CHECK (n_samples >= 0),
	rounds          INTEGER NOT NULL,                               -- processes that took them
	iterations      INTEGER NOT NULL CHECK (iterations >= 0),       -- per sample
	-- Statistics of the samples, kept beside them so that trends need not decode them; per iteration.
	median_ns       REAL    NOT NULL CHECK (median_ns >= 0 AND median_ns < 9e999),
	ci95_lo_ns      REAL    NOT NULL CHECK (ci95_lo_ns >= 0 AND ci95_lo_ns < 9e999),
	ci95_hi_ns      REAL    NOT NULL CHECK (ci95_hi_ns >= ci95_lo_ns AND ci95_hi_ns < 9e999),
	min_ns          REAL    NOT NULL CHECK (min_ns >= 0 AND min_ns < 9e999),
	mad_ns          REAL    NOT NULL CHECK (mad_ns >= 0 AND mad_ns < 9e999),
	dropped_frac    REAL    NOT NULL CHECK (dropped_frac BETWEEN 0 AND 1),

	-- The limit of the machine that binds the case, and which share of it the case reached.
	roof_bound      TEXT    NOT NULL CHECK (roof_bound IN ('none', 'bandwidth', 'arithmetic')),
	roof_op         TEXT    NOT NULL,
	roof_name       TEXT    NOT NULL,
	roof_least_frac REAL    NOT NULL CHECK (roof_least_frac >= 0 AND roof_least_frac < 9e999),
	roof_most_frac  REAL    NOT NULL CHECK (roof_most_frac >= 0 AND roof_most_frac < 9e999),
	roof_reached    INTEGER NOT NULL CHECK (roof_reached IN (0, 1)),

	cpus            TEXT    NOT NULL, -- where the threads ran, in thread order: '0,2,4'
	numa_node       INTEGER NOT NULL CHECK (numa_node >= -1),
	copies          INTEGER NOT NULL CHECK (copies >= 0),
	started_ns      INTEGER NOT NULL CHECK (started_ns >= 0),

	UNIQUE (run, bench_case),
	CONSTRAINT ok_is_measured CHECK (status <> 'ok' OR (n_samples > 0 AND median_ns > 0)),
	CONSTRAINT ok_is_correct CHECK (status <> 'ok' OR checked = 0 OR correct = 1),
	CONSTRAINT other_than_ok_says_why CHECK (status = 'ok' OR reason <> '')
) STRICT;
CREATE INDEX result_by_status ON result (run, status);
CREATE INDEX result_by_series ON result (series, status, all_threads, run);

-- Raw samples in a table of their own, so that lists and trends read past none of them. Format: store/blobs.h.
CREATE TABLE result_samples (
	result  INTEGER PRIMARY KEY REFERENCES result (id) ON DELETE CASCADE,
	encoded BLOB    NOT NULL CHECK (length(encoded) > 0)
) STRICT;

-- What numbers are called. A row never changes and never goes, since blobs refer to it.
CREATE TABLE number_name (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL CHECK (kind IN ('metric', 'count', 'missing')),
	name          TEXT    NOT NULL CHECK (name <> ''),
	source        TEXT    NOT NULL,
	unit          TEXT    NOT NULL,                                 -- of a metric
	better        INTEGER NOT NULL CHECK (better IN (-1, 0, 1)),    -- of a metric
	estimated     INTEGER NOT NULL CHECK (estimated IN (0, 1)),     -- of a metric
	how           TEXT    NOT NULL,                                 -- of a count; of a missing one the reason
	per_iteration INTEGER NOT NULL CHECK (per_iteration IN (0, 1)), -- of a count
	UNIQUE (kind, name, source, unit, better, estimated, how, per_iteration),
	CONSTRAINT missing_says_why CHECK (kind <> 'missing' OR how <> '')
) STRICT;

-- Metrics, counts and missing ones of a result; as rows they took twice its size. Format: store/blobs.h.
CREATE TABLE result_numbers (
	result  INTEGER PRIMARY KEY REFERENCES result (id) ON DELETE CASCADE,
	encoded BLOB    NOT NULL CHECK (length(encoded) > 0)
) STRICT;

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

-- ---- comparisons: two builds, with the raw samples of every process pair ----

-- AUTOINCREMENT: quoted by people, like the number of a run. What a verdict is recomputed from is all here or below.
CREATE TABLE comparison (
	id             INTEGER PRIMARY KEY AUTOINCREMENT,
	base           TEXT    NOT NULL CHECK (base <> ''), -- as the user named it
	head           TEXT    NOT NULL CHECK (head <> ''),
	suite          TEXT    NOT NULL CHECK (suite <> ''),
	seed           INTEGER NOT NULL,
	started_ns     INTEGER NOT NULL CHECK (started_ns > 0),
	machine        TEXT    NOT NULL REFERENCES machine (id),
	base_build     TEXT    NOT NULL REFERENCES build (id),
	head_build     TEXT    NOT NULL REFERENCES build (id),
	program_commit TEXT    NOT NULL, -- of the program that measured
	program_dirty  INTEGER NOT NULL CHECK (program_dirty IN (0, 1)),

	alpha          REAL    NOT NULL CHECK (alpha > 0 AND alpha < 1),
	budget_ns      INTEGER NOT NULL CHECK (budget_ns >= 0),
	max_pairs      INTEGER NOT NULL CHECK (max_pairs > 0),
	family         INTEGER NOT NULL CHECK (family > 0), -- tests that share alpha
	rule           INTEGER CHECK (rule > 0),            -- of the judge
	policy         TEXT    NOT NULL,
	fitness        TEXT    NOT NULL,                    -- what disturbed the machine meanwhile
	places         TEXT    NOT NULL,                    -- options that repeat it, as a shell takes them

	-- NULL: under way, or interrupted. The verdict is the one that was given, for a replay to be held against.
	ended_ns       INTEGER CHECK (ended_ns > 0),
	verdict        TEXT,
	exit_code      INTEGER CHECK (exit_code BETWEEN 0 AND 255),
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
	base_variant  TEXT    NOT NULL, -- of a comparison of variants; '': the same as that of the case
	judged        TEXT    NOT NULL, -- metrics of a program that are judged, by commas; '': the time
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
	digest      TEXT    NOT NULL,                                         -- '' unless the op is exact
	max_rel_err REAL    CHECK (max_rel_err >= 0 AND max_rel_err < 9e999), -- NULL: does not apply
	deviates    INTEGER NOT NULL,                                         -- as of a result
	deviation   TEXT    NOT NULL,
	code_hash   TEXT    NOT NULL,
	log         TEXT    NOT NULL,
	samples     BLOB    CHECK (length(samples) > 0),                      -- NULL: none; format: store/blobs.h
	raw_metrics TEXT    NOT NULL,                                         -- as of a result
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
	source    TEXT    NOT NULL,
	estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)), -- derived from counts that were multiplexed
	PRIMARY KEY (pair_side, place),
	UNIQUE (pair_side, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE pair_counter (
	pair_side     INTEGER NOT NULL REFERENCES pair_side (id) ON DELETE CASCADE,
	place         INTEGER NOT NULL CHECK (place >= 0),
	name          TEXT    NOT NULL CHECK (name <> ''),
	source        TEXT    NOT NULL,
	value         REAL    NOT NULL CHECK (value > -9e999 AND value < 9e999),
	how           TEXT    NOT NULL,
	per_iteration INTEGER NOT NULL CHECK (per_iteration IN (0, 1)),
	running_frac  REAL    NOT NULL CHECK (running_frac > 0 AND running_frac <= 1), -- below 1 an estimate
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

-- Why a case changed: samples of its functions on both sides. Weights are varints, base and head of each pair.
CREATE TABLE because (
	comparison_case INTEGER PRIMARY KEY REFERENCES comparison_case (id) ON DELETE CASCADE,
	seconds         REAL NOT NULL CHECK (seconds >= 0),
	rate_hz         REAL NOT NULL CHECK (rate_hz >= 0),
	source          TEXT NOT NULL,
	unknown         TEXT NOT NULL -- why there is no answer; '': there is one
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

-- What 'assay compare' said of a change that a history shows: between these two commits, on this machine. It is asked
-- again only where it was not decided and the budget is larger. The comparison may be pruned; the answer stays.
CREATE TABLE change_answer (
	bench_case  INTEGER NOT NULL REFERENCES bench_case (id),
	machine     TEXT    NOT NULL REFERENCES machine (id),
	from_commit TEXT    NOT NULL CHECK (from_commit <> ''),
	to_commit   TEXT    NOT NULL CHECK (to_commit <> ''),
	slower      INTEGER NOT NULL CHECK (slower IN (0, 1)), -- the change that was asked about
	confirmed   INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
	decided     INTEGER NOT NULL CHECK (decided IN (0, 1)),
	reason      TEXT    NOT NULL CHECK (reason <> ''),
	budget_ns   INTEGER NOT NULL CHECK (budget_ns >= 0),
	asked_ns    INTEGER NOT NULL CHECK (asked_ns > 0),
	comparison  INTEGER REFERENCES comparison (id) ON DELETE SET NULL,
	PRIMARY KEY (bench_case, machine, from_commit, to_commit, slower)
) STRICT;
CREATE INDEX change_answer_by_machine ON change_answer (machine);
CREATE INDEX change_answer_by_comparison ON change_answer (comparison);

-- ---- exact counts: of a run, of the sides of a comparison, or taken alone ----

CREATE TABLE exact_run (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	run         INTEGER UNIQUE REFERENCES run (id) ON DELETE CASCADE,    -- NULL: of none
	comparison  INTEGER REFERENCES comparison (id) ON DELETE CASCADE,    -- NULL: of none
	side        TEXT    CHECK (side IN ('base', 'head')),
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
CREATE UNIQUE INDEX exact_run_by_comparison ON exact_run (comparison, side) WHERE comparison IS NOT NULL;

CREATE TABLE exact_case (
	id          INTEGER PRIMARY KEY,
	exact_run   INTEGER NOT NULL REFERENCES exact_run (id) ON DELETE CASCADE,
	key         TEXT    NOT NULL CHECK (key <> ''),
	all_threads INTEGER NOT NULL CHECK (all_threads IN (0, 1)),
	status      TEXT    NOT NULL CHECK (status IN ('ok', 'skipped', 'wrong', 'crashed', 'timeout', 'failed')),
	skip        TEXT    NOT NULL CHECK (skip IN ('', 'unable', 'smaller')),
	reason      TEXT    NOT NULL,
	how         TEXT    NOT NULL CHECK (how IN ('', 'stepped')), -- '': by callgrind
	detail      TEXT    NOT NULL,
	digest      TEXT    NOT NULL,
	log         TEXT    NOT NULL,
	UNIQUE (exact_run, key),
	CONSTRAINT other_than_ok_says_why CHECK (status = 'ok' OR reason <> '')
) STRICT;

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

-- ---- profiles ----

-- A profile is its distinct stacks with their weights; a stack is the places of its frames, the outermost first, as
-- varints. Several may have one name, of which the newest is meant; what has a name is pruned only where a newer one
-- has it, too.
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
	build         TEXT    REFERENCES build (id) -- NULL: of a program, whose build is not known
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

-- Heap: totals, and the numbers of each call site. A site has its stack beside it, as profile_stack has, because one that
-- only allocated nothing weighs nothing. Sampled numbers are estimates: reals.
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

-- GPUs: what each GPU used, and numbers of each kernel or kind of copy, with its stack beside it. What a driver does not
-- tell is NULL.
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

-- Threads and traces: how often threads waited as a stack says, and of traces how many spans lie there, with the stack
-- and its ns beside it.
CREATE TABLE profile_wait (
	profile    INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
	place      INTEGER NOT NULL CHECK (place >= 0),
	frames     BLOB    NOT NULL,
	weight     INTEGER NOT NULL CHECK (weight >= 0), -- ns
	times      INTEGER NOT NULL CHECK (times >= 0),
	longest_ns INTEGER NOT NULL CHECK (longest_ns >= 0),
	PRIMARY KEY (profile, place)
) STRICT, WITHOUT ROWID;
