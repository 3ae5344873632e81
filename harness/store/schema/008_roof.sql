-- SPDX-License-Identifier: Apache-2.0
-- Version 8: what bounds a case, and its share where limit and case took turns. Until then both stood only in a text for people, beside
-- the count roof_ns: "stream.read at l3; in turn, 61.2 to 63.4 %?", "peak.i8_dot".

ALTER TABLE result ADD COLUMN roof_bound TEXT NOT NULL DEFAULT 'none' CHECK (roof_bound IN ('none', 'bandwidth', 'arithmetic'));
ALTER TABLE result ADD COLUMN roof_op TEXT NOT NULL DEFAULT '';   -- whose rate it is; '' none
ALTER TABLE result ADD COLUMN roof_name TEXT NOT NULL DEFAULT ''; -- the memory or the arithmetic: 'l3', 'i8'
-- The 95 % interval of the share; 0: not in turn. Not reached: of too few turns, the range of all.
ALTER TABLE result ADD COLUMN roof_least_frac REAL NOT NULL DEFAULT 0 CHECK (roof_least_frac >= 0 AND roof_least_frac < 9e999);
ALTER TABLE result ADD COLUMN roof_most_frac REAL NOT NULL DEFAULT 0 CHECK (roof_most_frac >= 0 AND roof_most_frac < 9e999);
ALTER TABLE result ADD COLUMN roof_reached INTEGER NOT NULL DEFAULT 0 CHECK (roof_reached IN (0, 1));

WITH told AS (
	SELECT result, substr(how, 1, instr(how || ';', ';') - 1) AS what,
		CASE WHEN instr(how, '; in turn, ') THEN substr(how, instr(how, '; in turn, ') + length('; in turn, ')) END AS share
	FROM result_counter
	WHERE name = 'roof_ns' AND how <> ''
)
UPDATE result SET
	roof_bound = iif(instr(what, ' at '), 'bandwidth', 'arithmetic'),
	roof_op = substr(what, 1, instr(what || ' at ', ' at ') - 1),
	-- "l3" of "stream.read at l3", "i8" of "peak.i8_dot"
	roof_name = iif(instr(what, ' at '), substr(what, instr(what, ' at ') + length(' at ')),
			substr(substr(what, instr(what, '.') + 1), 1, instr(substr(what, instr(what, '.') + 1) || '_', '_') - 1)),
	roof_least_frac = iif(share IS NULL, 0, CAST(share AS REAL) / 100),
	roof_most_frac = iif(share IS NULL, 0, CAST(substr(share, instr(share, ' to ') + length(' to ')) AS REAL) / 100),
	roof_reached = share IS NOT NULL AND share NOT LIKE '%?'
FROM told
WHERE told.result = result.id;
