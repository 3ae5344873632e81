-- SPDX-License-Identifier: Apache-2.0
-- Version 11: a seal is a digest over a row and what belongs to it, as they were stored: SQLite does not notice a bit that flips in a page. '' where
-- an older version stored the row. row_seal is of the result's own columns, for the trends, which read nothing else.

ALTER TABLE result ADD COLUMN row_seal TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE pair ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE exact_case ADD COLUMN seal TEXT NOT NULL DEFAULT '';
