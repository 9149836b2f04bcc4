-- A log of changes that every derived index follows at its own pace, in place of rows that the first consumer deletes.

CREATE TABLE changes (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id text NOT NULL,
    generation  bigint NOT NULL,
    action      text NOT NULL CHECK (action IN ('put', 'remove')),
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX changes_document ON changes (document_id);

-- How far each index has followed the log.
CREATE TABLE index_cursors (
    index_name text PRIMARY KEY,
    change_id  bigint NOT NULL
);

-- Documents that an index takes or lets go of besides the log: those that failed, and those it is to take once more.
CREATE TABLE index_backlog (
    queued          bigint GENERATED ALWAYS AS IDENTITY,
    index_name      text NOT NULL,
    document_id     text NOT NULL,
    removes         boolean NOT NULL DEFAULT false,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    error           text,
    PRIMARY KEY (index_name, document_id)
);
CREATE INDEX index_backlog_document ON index_backlog (document_id);

-- Every document that an index has yet to follow, once for each reason.
CREATE VIEW index_waiting AS
    SELECT index_name, document_id, attempts, error FROM index_backlog
    UNION ALL
    SELECT k.index_name, c.document_id, 0, NULL FROM index_cursors k JOIN changes c ON c.id > k.change_id;

-- Older libraries: both indexes hold all but what stood in the outbox.
INSERT INTO index_cursors (index_name, change_id) VALUES ('dumps', 0), ('chroma', 0);
INSERT INTO index_backlog (index_name, document_id, removes, error)
    SELECT store, document_id, bool_or(action = 'remove'), max(error) FROM outbox GROUP BY store, document_id;
DROP TABLE outbox;
