-- What a conversation was narrowed to; null is everything.

ALTER TABLE conversations ADD COLUMN scope jsonb;
