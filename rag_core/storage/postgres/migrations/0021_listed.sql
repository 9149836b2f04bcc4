-- What was asked by itself, without a conversation, is kept; the chat page lists it once it is gone on with.
ALTER TABLE conversations ADD COLUMN listed boolean NOT NULL DEFAULT true;
