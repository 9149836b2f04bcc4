-- Answers that are given again to the same question: each a kept message, found by what it depended on (a hash of the
-- question, what was said before, the documents as they were, settings and model). It goes with its message.
CREATE TABLE answer_cache (
    message_id text PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
    key        text NOT NULL,
    kept_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX answer_cache_key ON answer_cache (key, kept_at);
CREATE INDEX answer_cache_age ON answer_cache (kept_at);

-- What is looked up by a file's name, listed by the day of adding, counted by the time of asking and by what is cited.
CREATE INDEX sources_name ON sources (name);
CREATE INDEX documents_added ON documents (added_at DESC, id);
CREATE INDEX messages_created ON messages (created_at DESC);
CREATE INDEX citations_document ON citations (document_id);
