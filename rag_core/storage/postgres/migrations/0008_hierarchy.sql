-- The two levels of a library: a summary of each document and clusters of its chunks, and clusters of documents by their
-- summaries. All of it is derived; a backup holds it since a model may have written the summaries.

-- `generation` and `profile` are those of the document that was summarised: others are made again.
CREATE TABLE document_summaries (
    document_id text PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    generation  bigint NOT NULL,
    profile     text NOT NULL REFERENCES embedding_profiles ON DELETE CASCADE,
    summary     text NOT NULL,
    written     boolean NOT NULL,
    words       jsonb NOT NULL,
    vector      vector NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now()
);

-- `members` are indexes of chunks, `weights` how much each belongs here.
CREATE TABLE chunk_clusters (
    document_id text NOT NULL REFERENCES document_summaries ON DELETE CASCADE,
    number      integer NOT NULL,
    terms       text[] NOT NULL,
    centroid    vector NOT NULL,
    members     integer[] NOT NULL,
    weights     real[] NOT NULL,
    PRIMARY KEY (document_id, number)
);

-- `built` documents were in a cluster when all were clustered; those that joined later have `joined`.
CREATE TABLE document_clusters (
    number   integer PRIMARY KEY,
    profile  text NOT NULL REFERENCES embedding_profiles ON DELETE CASCADE,
    terms    text[] NOT NULL,
    centroid vector NOT NULL,
    built    integer NOT NULL
);

CREATE TABLE document_memberships (
    document_id text NOT NULL REFERENCES document_summaries ON DELETE CASCADE,
    cluster     integer NOT NULL REFERENCES document_clusters ON DELETE CASCADE,
    weight      real NOT NULL,
    joined      boolean NOT NULL,
    PRIMARY KEY (document_id, cluster)
);
CREATE INDEX document_memberships_cluster ON document_memberships (cluster);
