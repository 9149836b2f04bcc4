-- A source is where a document came from: an upload's name, a file's path, an address, with what was seen there. One
-- whose bytes changed leads to two documents until the newer one is ready; `looked_at` says which is newer.

ALTER TABLE sources ADD COLUMN location      text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN kind          text NOT NULL DEFAULT 'upload' CHECK (kind IN ('upload', 'file', 'web'));
ALTER TABLE sources ADD COLUMN root          text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN size_bytes    bigint NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN modified_ns   bigint NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN etag          text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN last_modified text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN looked_at     timestamptz NOT NULL DEFAULT now();
-- The same bytes may have one name in two places. Paths may be longer than an index takes.
ALTER TABLE sources DROP CONSTRAINT sources_pkey;
CREATE UNIQUE INDEX sources_place ON sources (document_id, name, md5(location));
CREATE INDEX sources_location ON sources (md5(location)) WHERE location <> '';

-- Watched folders, and addresses that were added: what leads to many sources.
CREATE TABLE followed_sources (
    location  text PRIMARY KEY,
    kind      text NOT NULL CHECK (kind IN ('folder', 'web')),
    tags      text[] NOT NULL DEFAULT '{}',
    depth     integer NOT NULL DEFAULT 0,
    pages     integer NOT NULL DEFAULT 0,
    delay_s   double precision NOT NULL DEFAULT 0,
    looked_at timestamptz,
    problem   text NOT NULL DEFAULT '',
    device    bigint NOT NULL DEFAULT 0,
    added_at  timestamptz NOT NULL DEFAULT now()
);

-- What a user removed from the library and that stands in a followed place still: it is not brought in again by itself.
CREATE TABLE left_out_sources (
    location    text NOT NULL,
    size_bytes  bigint NOT NULL,
    modified_ns bigint NOT NULL
);
CREATE UNIQUE INDEX left_out_sources_location ON left_out_sources (md5(location));
