-- Whether an agent answers in a conversation; null for what the settings say.
ALTER TABLE conversations ADD COLUMN agent boolean;
-- Whether a document failed for what it holds, so that reading it again fails again.
ALTER TABLE documents ADD COLUMN is_lasting boolean NOT NULL DEFAULT false;
