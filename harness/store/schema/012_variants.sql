-- SPDX-License-Identifier: Apache-2.0
-- Version 12: what the machine was fit for when a comparison was measured; and of two variants the one that the base runs. '' where
-- both sides run the variant of the case, and for all that was stored before.

ALTER TABLE comparison ADD COLUMN fitness TEXT NOT NULL DEFAULT '';
ALTER TABLE comparison_case ADD COLUMN base_variant TEXT NOT NULL DEFAULT '';
