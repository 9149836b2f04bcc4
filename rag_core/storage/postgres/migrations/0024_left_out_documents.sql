-- The document that was removed: its file stays out when it is merely touched. Empty for what was removed before.
ALTER TABLE left_out_sources ADD COLUMN document_id text NOT NULL DEFAULT '';
