-- Cards say what a person would call a document; a user may call it otherwise, and puts tags on it. `title` is what is
-- shown: the user's, else the card's. `title_read` is what the file itself says, or its name: cards are made of it.

ALTER TABLE documents ADD COLUMN title_read    text NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN title_by_user text;
ALTER TABLE documents ADD COLUMN card          jsonb;
ALTER TABLE documents ADD COLUMN card_version  integer NOT NULL DEFAULT 0;
UPDATE documents SET title_read = title;
CREATE INDEX documents_card_version ON documents (card_version);

CREATE TABLE document_tags (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    tag         text NOT NULL,
    PRIMARY KEY (document_id, tag)
);
CREATE INDEX document_tags_tag ON document_tags (tag);
