-- What a person set right of how a document's tables were read: the row that is the head, counted from 1 on, 0 as read,
-- with its cells, and what columns hold, [[column, head, kind], ...]. A table is named by its number in the document and
-- by what stands above it; what fits no table of a new version is kept, and told of among the notes.
CREATE TABLE table_readings (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    number      integer NOT NULL,
    name        text NOT NULL DEFAULT '',
    head        integer NOT NULL DEFAULT 0,
    heads       jsonb NOT NULL DEFAULT '[]',
    columns     jsonb NOT NULL DEFAULT '[]',
    edited_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, number)
);
-- What is doubtful about a document's tables, beside the notes of its reading.
ALTER TABLE documents ADD COLUMN table_notes jsonb NOT NULL DEFAULT '[]';
