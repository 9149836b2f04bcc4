-- Who carries a job out, and how often it was begun. A job is its owner's for as long as that one's lease lasts, which
-- one line an owner prolongs for all its jobs; the token grows each time that a job is taken, and whoever took it before
-- can commit nothing of it any more.
ALTER TABLE jobs
    ADD COLUMN owner text NOT NULL DEFAULT '',
    ADD COLUMN token bigint NOT NULL DEFAULT 0,
    ADD COLUMN attempts integer NOT NULL DEFAULT 0;
CREATE TABLE job_owners (
    id text PRIMARY KEY,
    until timestamptz NOT NULL
);
CREATE SEQUENCE job_tokens OWNED BY jobs.token;
CREATE INDEX jobs_open ON jobs (created_at, id) WHERE state IN ('waiting', 'running');
