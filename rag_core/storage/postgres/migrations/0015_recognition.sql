-- Text recognition (OCR) of pages whose text is a picture. A page waits from its document's commit on; what was read of it
-- is kept here, in the reading's own form, and is `in_place` once the document's pages and chunks are made of it.
CREATE TABLE recognised_pages (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    number      integer NOT NULL,
    state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'read', 'failed')),
    in_place    boolean NOT NULL DEFAULT false,
    recogniser  text NOT NULL DEFAULT '',
    certainty   real NOT NULL DEFAULT 0,
    turned      integer NOT NULL DEFAULT 0,
    content     jsonb,
    error       text,
    PRIMARY KEY (document_id, number)
);
CREATE INDEX recognised_pages_open ON recognised_pages (document_id) WHERE NOT in_place;

-- Pages of before, of which nothing could be read.
INSERT INTO recognised_pages (document_id, number)
SELECT p.document_id, p.number FROM pages p JOIN documents d ON d.id = p.document_id
WHERE d.media_type = 'application/pdf' AND p.error IS NULL AND p.text !~ '\S';
