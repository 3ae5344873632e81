-- SPDX-License-Identifier: Apache-2.0
-- Version 16: metrics, counts and missing ones of a result as one blob, and the results of a case on one machine as a series. As rows, a result
-- took twice its present size, and the history of a case was looked for among the results of all machines.

-- What numbers are called. A row never changes and never goes, since blobs refer to it.
CREATE TABLE number_name (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL CHECK (kind IN ('metric', 'count', 'missing')),
	name          TEXT    NOT NULL CHECK (name <> ''),
	source        TEXT    NOT NULL,
	unit          TEXT    NOT NULL,                               -- of a metric
	better        INTEGER NOT NULL CHECK (better IN (-1, 0, 1)),  -- of a metric
	estimated     INTEGER NOT NULL CHECK (estimated IN (0, 1)),   -- of a metric
	how           TEXT    NOT NULL,                               -- of a count; of a missing one the reason
	per_iteration INTEGER NOT NULL CHECK (per_iteration IN (0, 1)), -- of a count
	UNIQUE (kind, name, source, unit, better, estimated, how, per_iteration),
	CONSTRAINT missing_says_why CHECK (kind <> 'missing' OR how <> '')
) STRICT;

-- Format: number_blob.h.
CREATE TABLE result_numbers (
	result  INTEGER PRIMARY KEY REFERENCES result (id) ON DELETE CASCADE,
	encoded BLOB    NOT NULL CHECK (length(encoded) > 0)
) STRICT;

INSERT INTO number_name (kind, name, source, unit, better, estimated, how, per_iteration)
SELECT DISTINCT 'metric', tag, source, unit, better, estimated, '', 0 FROM result_metric
UNION ALL SELECT DISTINCT 'count', name, source, '', 0, 0, how, per_iteration FROM result_counter
UNION ALL SELECT DISTINCT 'missing', name, source, '', 0, 0, reason, 0 FROM result_unavailable;

-- pack_numbers() is the store's own: of (order, id, value, running_frac).
INSERT INTO result_numbers (result, encoded)
SELECT result, pack_numbers(at, id, value, running_frac) FROM (
	SELECT m.result, m.place AS at, n.id, m.value, 1.0 AS running_frac
	FROM result_metric m JOIN number_name n ON n.kind = 'metric' AND n.name = m.tag AND n.source = m.source AND n.unit = m.unit
		AND n.better = m.better AND n.estimated = m.estimated AND n.how = '' AND n.per_iteration = 0
	UNION ALL
	SELECT c.result, c.place + 1000000, n.id, c.value, c.running_frac
	FROM result_counter c JOIN number_name n ON n.kind = 'count' AND n.name = c.name AND n.source = c.source AND n.unit = ''
		AND n.better = 0 AND n.estimated = 0 AND n.how = c.how AND n.per_iteration = c.per_iteration
	UNION ALL
	SELECT u.result, u.place + 2000000, n.id, 0.0, 1.0
	FROM result_unavailable u JOIN number_name n ON n.kind = 'missing' AND n.name = u.name AND n.source = u.source AND n.unit = ''
		AND n.better = 0 AND n.estimated = 0 AND n.how = u.reason AND n.per_iteration = 0)
GROUP BY result;

DROP TABLE result_metric;
DROP TABLE result_counter;
DROP TABLE result_unavailable;

CREATE TABLE series (
	id         INTEGER PRIMARY KEY,
	bench_case INTEGER NOT NULL REFERENCES bench_case (id),
	machine    TEXT    NOT NULL REFERENCES machine (id),
	UNIQUE (bench_case, machine)
) STRICT;
CREATE INDEX series_by_machine ON series (machine);

INSERT INTO series (bench_case, machine)
SELECT DISTINCT r.bench_case, run.machine FROM result r JOIN run ON run.id = r.run ORDER BY 1, 2;

ALTER TABLE result ADD COLUMN series INTEGER REFERENCES series (id);
UPDATE result SET series = s.id FROM run, series s
WHERE run.id = result.run AND s.bench_case = result.bench_case AND s.machine = run.machine;

DROP INDEX result_by_case;
CREATE INDEX result_by_series ON result (series, status, all_threads, run);
CREATE INDEX run_by_time ON run (started_ns);
DROP INDEX run_by_suite;
CREATE INDEX run_by_suite ON run (suite, machine, seed, started_ns);
