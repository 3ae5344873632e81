-- SPDX-License-Identifier: Apache-2.0
-- Version 12: of a comparison of two variants, the one that the base runs. '' where both sides run the variant of the case.

ALTER TABLE comparison_case ADD COLUMN base_variant TEXT NOT NULL DEFAULT '';
