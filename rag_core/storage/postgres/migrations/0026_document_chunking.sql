-- By which chunking each document was cut, as its settings' key; empty where that is not known. Those that were listed to
-- be cut anew are found by it from now on.
ALTER TABLE documents ADD COLUMN chunking text NOT NULL DEFAULT '';
UPDATE documents SET chunking = kept.value FROM preferences kept WHERE kept.name = 'chunking' AND NOT EXISTS (
    SELECT FROM preferences due WHERE due.name = 'chunk_anew' AND (due.value::jsonb -> 'ids') ? documents.id
);
DELETE FROM preferences WHERE name = 'chunk_anew';
