-- A collection is a tag that has more than documents: instructions, settings of search, and conversations. One that was
-- removed is kept for a while, so that it can be taken back.
CREATE TABLE collections (
    id           text PRIMARY KEY,
    name         text NOT NULL,
    instructions text NOT NULL DEFAULT '',
    settings     jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now(),
    removed_at   timestamptz
);
CREATE UNIQUE INDEX collections_name ON collections (lower(name)) WHERE removed_at IS NULL;
ALTER TABLE conversations ADD COLUMN collection text REFERENCES collections ON DELETE SET NULL;
