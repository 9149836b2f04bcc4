-- People with documents, collections and conversations of their own. An owner is an address in small letters; '' is the
-- library's own, which belongs to all. The same bytes of two owners are two documents, so that nobody learns by adding a
-- file whether somebody else has it.
ALTER TABLE documents ADD COLUMN owner text NOT NULL DEFAULT '';
ALTER TABLE documents DROP CONSTRAINT documents_sha256_key;
CREATE INDEX documents_owner ON documents (owner) WHERE owner <> '';

ALTER TABLE collections ADD COLUMN owner text NOT NULL DEFAULT '';
DROP INDEX collections_name;
CREATE UNIQUE INDEX collections_name ON collections (owner, lower(name)) WHERE removed_at IS NULL;

ALTER TABLE conversations ADD COLUMN owner text NOT NULL DEFAULT '';
CREATE INDEX conversations_owner ON conversations (owner) WHERE owner <> '';

ALTER TABLE access_keys ADD COLUMN person text NOT NULL DEFAULT '';

-- With whom the owner of a collection shares it.
CREATE TABLE collection_members (
    collection_id text NOT NULL REFERENCES collections ON DELETE CASCADE,
    person        text NOT NULL CHECK (person <> ''),
    role          text NOT NULL CHECK (role IN ('reader', 'editor')),
    PRIMARY KEY (collection_id, person)
);
CREATE INDEX collection_members_person ON collection_members (person);

-- What editors put of their own into a collection of somebody else.
CREATE TABLE collection_documents (
    collection_id text NOT NULL REFERENCES collections ON DELETE CASCADE,
    document_id   text NOT NULL REFERENCES documents ON DELETE CASCADE,
    PRIMARY KEY (collection_id, document_id)
);
CREATE INDEX collection_documents_document ON collection_documents (document_id);

-- The documents of each collection: those of its owner that have its name as a tag, and what its editors put into it.
CREATE VIEW collected AS
    SELECT c.id AS collection_id, d.id AS document_id
    FROM collections c JOIN document_tags t ON t.tag = c.name JOIN documents d ON d.id = t.document_id
    WHERE c.removed_at IS NULL AND d.owner = c.owner
    UNION ALL
    SELECT c.id, d.id
    FROM collection_documents e JOIN collections c ON c.id = e.collection_id JOIN documents d ON d.id = e.document_id
    JOIN collection_members m ON m.collection_id = c.id AND m.person = d.owner AND m.role = 'editor'
    WHERE c.removed_at IS NULL;

-- What each person may do with the collections that are shared with them, or are theirs.
CREATE VIEW shared_with AS
    SELECT id AS collection_id, owner AS person, 'owner' AS role FROM collections
    WHERE removed_at IS NULL AND owner <> ''
    UNION ALL
    SELECT m.collection_id, m.person, m.role FROM collection_members m JOIN collections c ON c.id = m.collection_id
    WHERE c.removed_at IS NULL AND c.owner <> '';

-- The one place that says what a person may see: what is everybody's, their own, and what is shared with them.
CREATE OR REPLACE FUNCTION visible_documents(asking text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT id FROM documents WHERE owner = ''
    UNION ALL
    SELECT id FROM documents WHERE owner = asking AND owner <> ''
    UNION ALL
    SELECT k.document_id FROM shared_with s JOIN collected k USING (collection_id) WHERE s.person = asking
$$;

CREATE OR REPLACE FUNCTION visible_collections(asking text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT id FROM collections WHERE owner = '' AND removed_at IS NULL
    UNION ALL
    SELECT collection_id FROM shared_with WHERE person = asking
$$;
