-- Question sets, and the runs of configurations on them. A run keeps the questions as they were when it was begun, and
-- outlives its set.

ALTER TABLE messages ADD COLUMN rating smallint CHECK (rating IN (-1, 1));

CREATE TABLE question_sets (
    id         text PRIMARY KEY,
    name       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE questions (
    set_id   text NOT NULL REFERENCES question_sets ON DELETE CASCADE,
    id       text NOT NULL,
    place    integer NOT NULL,
    text     text NOT NULL,
    question jsonb NOT NULL,
    PRIMARY KEY (set_id, id)
);

CREATE TABLE evaluation_runs (
    id          text PRIMARY KEY,
    group_id    text NOT NULL,
    set_id      text NOT NULL,
    state       text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'cancelled', 'failed')),
    run         jsonb NOT NULL,
    questions   jsonb NOT NULL,
    error       text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz
);
CREATE INDEX evaluation_runs_set ON evaluation_runs (set_id, created_at);

-- The texts of the passages found stand apart: they are most of a result, and seldom wanted.
CREATE TABLE evaluation_results (
    run_id      text NOT NULL REFERENCES evaluation_runs ON DELETE CASCADE,
    question_id text NOT NULL,
    place       integer NOT NULL,
    result      jsonb NOT NULL,
    passages    jsonb NOT NULL,
    PRIMARY KEY (run_id, question_id)
);
