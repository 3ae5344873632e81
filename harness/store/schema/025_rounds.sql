-- SPDX-License-Identifier: Apache-2.0
-- Version 25: how many processes took the samples of a result. One alone has no interval that may be shown. Results that
-- were stored before count as of one.

ALTER TABLE result ADD COLUMN rounds INTEGER NOT NULL DEFAULT 1;
UPDATE result SET seal = '';
