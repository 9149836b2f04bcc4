-- What a user made of chunks: texts corrected by hand, and chunks that are left out of search, which are not among
-- `chunks`. A row names its chunk by the span of the page that it was cut from, and keeps the text as read beside the one
-- that counts. One that is not `in_place` fits no chunk since its document was cut otherwise, or came in a new version.
CREATE TABLE chunk_edits (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    page        integer NOT NULL,
    span_start  integer NOT NULL,
    span_end    integer NOT NULL,
    section     text NOT NULL DEFAULT '',
    boxes       jsonb NOT NULL DEFAULT '[]',
    original    text NOT NULL,
    text        text NOT NULL,
    token_count integer NOT NULL DEFAULT 0,
    hidden      boolean NOT NULL DEFAULT false,
    left_out    boolean NOT NULL DEFAULT false,
    in_place    boolean NOT NULL DEFAULT true,
    profile     text NOT NULL,
    vector      vector NOT NULL,
    pieces      bytea,
    edited_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, page, span_start, span_end)
);
ALTER TABLE chunk_edits ALTER COLUMN pieces SET STORAGE EXTERNAL;

-- Text that nobody sees on the page: spans with why, [[start, end, "white"], ...]. Chunks and citations that hold some
-- are marked, and chunks that a user corrected.
ALTER TABLE pages ADD COLUMN hidden jsonb NOT NULL DEFAULT '[]';
ALTER TABLE chunks ADD COLUMN corrected boolean NOT NULL DEFAULT false, ADD COLUMN hidden boolean NOT NULL DEFAULT false;
ALTER TABLE citations
    ADD COLUMN corrected boolean NOT NULL DEFAULT false, ADD COLUMN hidden boolean NOT NULL DEFAULT false;
-- A removal that can be undone: until then the document's rows and file are kept, though nothing finds it any more.
ALTER TABLE documents ADD COLUMN kept_until timestamptz;
