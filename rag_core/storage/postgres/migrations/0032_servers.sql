-- Servers that have this database, one for each data directory: how far the indexes of each have followed the change log,
-- which jobs are whose, and what is done by one of them at a time. One that was not seen for long is forgotten.
CREATE TABLE servers (
    id      text PRIMARY KEY,
    name    text NOT NULL DEFAULT '',
    seen_at timestamptz NOT NULL DEFAULT now()
);
-- The mark of the one data directory of before; '' is that of a library from before there were marks, or of a new one.
INSERT INTO servers (id) SELECT value FROM preferences WHERE name = 'paired';
INSERT INTO servers (id) SELECT '' WHERE NOT EXISTS (SELECT FROM servers);
DELETE FROM preferences WHERE name = 'paired';

DROP VIEW index_waiting;
ALTER TABLE index_cursors ADD COLUMN server text REFERENCES servers ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE index_backlog ADD COLUMN server text REFERENCES servers ON UPDATE CASCADE ON DELETE CASCADE;
UPDATE index_cursors SET server = (SELECT id FROM servers);
UPDATE index_backlog SET server = (SELECT id FROM servers);
ALTER TABLE index_cursors DROP CONSTRAINT index_cursors_pkey, ADD PRIMARY KEY (server, index_name);
ALTER TABLE index_backlog DROP CONSTRAINT index_backlog_pkey, ADD PRIMARY KEY (server, index_name, document_id);

-- Every document that an index of a server has yet to follow, once for each reason.
CREATE VIEW index_waiting AS
    SELECT server, index_name, document_id, attempts, error FROM index_backlog
    UNION ALL
    SELECT k.server, k.index_name, c.document_id, 0, NULL FROM index_cursors k JOIN changes c ON c.id > k.change_id;

ALTER TABLE job_owners ADD COLUMN server text NOT NULL DEFAULT '';
-- Who accepted a document brings it in; another server does so where that one is gone.
ALTER TABLE documents ADD COLUMN server text NOT NULL DEFAULT '';

CREATE TABLE leases (
    name   text PRIMARY KEY,
    server text NOT NULL REFERENCES servers ON UPDATE CASCADE ON DELETE CASCADE,
    until  timestamptz NOT NULL
);
