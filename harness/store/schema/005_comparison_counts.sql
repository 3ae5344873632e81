-- SPDX-License-Identifier: Apache-2.0
-- Version 5: exact counts of the two sides of a comparison. Outputs of both must be equal, so their digests stand beside the counts.

ALTER TABLE exact_case ADD COLUMN digest TEXT NOT NULL DEFAULT ''; -- '' unless the op is exact

-- NULL: counts of a run, or taken alone.
ALTER TABLE exact_run ADD COLUMN comparison INTEGER REFERENCES comparison (id) ON DELETE CASCADE;
ALTER TABLE exact_run ADD COLUMN side TEXT CHECK (side IN ('base', 'head'));
CREATE UNIQUE INDEX exact_run_by_comparison ON exact_run (comparison, side) WHERE comparison IS NOT NULL;

CREATE TRIGGER counts_need_open_comparison BEFORE INSERT ON exact_run
WHEN (SELECT ended_ns FROM comparison WHERE id = NEW.comparison) IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'the comparison has ended');
END;
