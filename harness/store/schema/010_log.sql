-- SPDX-License-Identifier: Apache-2.0
-- Version 10: what the worker of a case printed, as printable lines; of pairs, that of a side that is not ok. '' where it printed nothing,
-- and for all that was stored before.

ALTER TABLE result ADD COLUMN log TEXT NOT NULL DEFAULT '';
ALTER TABLE pair_side ADD COLUMN log TEXT NOT NULL DEFAULT '';
ALTER TABLE exact_case ADD COLUMN log TEXT NOT NULL DEFAULT '';
