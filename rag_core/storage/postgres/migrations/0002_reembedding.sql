-- Embedding anew with another profile: its vectors gather here while the old ones answer, and take their place at once.

-- Where the model of a profile was found: its name, or a folder.
ALTER TABLE embedding_profiles ADD COLUMN model text NOT NULL DEFAULT '';

CREATE TABLE new_vectors (
    document_id text NOT NULL,
    index       integer NOT NULL,
    profile     text NOT NULL REFERENCES embedding_profiles,
    vector      vector NOT NULL,
    PRIMARY KEY (document_id, index),
    FOREIGN KEY (document_id, index) REFERENCES chunks ON DELETE CASCADE
);
