-- Who began a conversation through a door: a key that reads alone goes on with its own. Empty for those of the pages.
ALTER TABLE conversations ADD COLUMN begun_by text NOT NULL DEFAULT '';
