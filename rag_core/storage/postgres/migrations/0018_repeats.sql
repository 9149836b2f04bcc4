-- What was answered under an idempotency key, so that a request sent twice is carried out once.

CREATE TABLE repeats (
    who text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    answer text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (who, key)
);
