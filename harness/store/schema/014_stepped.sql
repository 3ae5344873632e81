-- SPDX-License-Identifier: Apache-2.0
-- Version 14: which way a case was counted, and what is known of its counts by line, thread and kind of instruction: one text, an entry a line
-- (harness/model/exact_detail.h). skip: why it was skipped, where that
-- decides how it is judged: the machine cannot run the variant at all, or smaller shapes were counted instead. Empty values are callgrind's counts and no detail, as of all that was stored before.

ALTER TABLE exact_case ADD COLUMN how TEXT NOT NULL DEFAULT '' CHECK (how IN ('', 'stepped'));
ALTER TABLE exact_case ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE exact_case ADD COLUMN skip TEXT NOT NULL DEFAULT '' CHECK (skip IN ('', 'unable', 'smaller'));
