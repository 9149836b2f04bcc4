-- Whose a watched file was that its owner removed: what comes of it later is theirs as well.
ALTER TABLE left_out_sources ADD COLUMN owner text NOT NULL DEFAULT '';
