-- SPDX-License-Identifier: Apache-2.0
-- Version 6: the version of the rule that a comparison was judged by, so that a replay under another rule says so.

-- NULL: from before rules had versions.
ALTER TABLE comparison ADD COLUMN rule INTEGER CHECK (rule > 0);
