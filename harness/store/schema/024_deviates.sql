-- SPDX-License-Identifier: Apache-2.0
-- Version 24: on which values the outputs of a right case deviate from what its op defines, as bits of enum assay_edge in
-- plugin.h, and the first place where they do.

ALTER TABLE result ADD COLUMN deviates INTEGER NOT NULL DEFAULT 0;
ALTER TABLE result ADD COLUMN deviation TEXT NOT NULL DEFAULT '';
ALTER TABLE pair_side ADD COLUMN deviates INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pair_side ADD COLUMN deviation TEXT NOT NULL DEFAULT '';
