-- SPDX-License-Identifier: Apache-2.0
-- Version 12: whose revision. Of a run with plugins that the user named, the commit and state of their repository, beside those of the
-- program; of a comparison, those of the program, beside those of its sides. '' where there is none, and for all that was stored before.

ALTER TABLE build ADD COLUMN plugin_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE build ADD COLUMN plugin_dirty INTEGER NOT NULL DEFAULT 0 CHECK (plugin_dirty IN (0, 1));
ALTER TABLE comparison ADD COLUMN program_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE comparison ADD COLUMN program_dirty INTEGER NOT NULL DEFAULT 0 CHECK (program_dirty IN (0, 1));
