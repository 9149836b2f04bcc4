-- Long work: what was asked for, how far it is and how it ended. What is asked for with bytes or passwords is kept
-- without them.

CREATE TABLE jobs (
    id text PRIMARY KEY,
    kind text NOT NULL,
    name text NOT NULL DEFAULT '',
    params jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    progress jsonb NOT NULL,
    result jsonb,
    error jsonb,
    document_id text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    began_at timestamptz,
    ended_at timestamptz
);
CREATE INDEX jobs_created ON jobs (created_at);
