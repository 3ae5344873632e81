-- SPDX-License-Identifier: Apache-2.0
-- Version 23: where plugins and benches came from, as options of the command that repeats a run or comparison, such as
-- ' --plugin ./mine.so'. '' for those of the program, and for all that was stored before.

ALTER TABLE run ADD COLUMN places TEXT NOT NULL DEFAULT '';
ALTER TABLE comparison ADD COLUMN places TEXT NOT NULL DEFAULT '';
