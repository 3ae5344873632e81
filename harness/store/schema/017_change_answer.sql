-- SPDX-License-Identifier: Apache-2.0
-- Version 17: what 'assay compare' said of a change that a history shows: between these two commits, on this machine. It is asked again
-- only where it was not decided and the budget is larger. The comparison may be pruned; the answer stays.

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
