-- The library as PostgreSQL holds it. Everything in Chroma and in the dump files can be made again from these tables.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE embedding_profiles (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    revision    text NOT NULL,
    dimensions  integer NOT NULL,
    pooling     text NOT NULL,
    precision   text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE documents (
    id          text PRIMARY KEY,
    sha256      text NOT NULL UNIQUE,
    title       text NOT NULL,
    authors     text NOT NULL DEFAULT '',
    year        integer,
    abstract    text NOT NULL DEFAULT '',
    language    text NOT NULL DEFAULT '',
    media_type  text NOT NULL,
    byte_size   bigint NOT NULL,
    page_count  integer NOT NULL DEFAULT 0,
    chunk_count integer NOT NULL DEFAULT 0,
    state       text NOT NULL CHECK (state IN ('pending', 'stored', 'ready', 'failed', 'removing')),
    error       text,
    help        text NOT NULL DEFAULT '',
    password    text,
    profile     text REFERENCES embedding_profiles,
    sections    jsonb NOT NULL DEFAULT '[]',
    notes       jsonb NOT NULL DEFAULT '[]',
    added_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX documents_state ON documents (state);

CREATE TABLE sources (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    name        text NOT NULL,
    added_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, name)
);

CREATE TABLE pages (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    number      integer NOT NULL,
    label       text NOT NULL DEFAULT '',
    text        text NOT NULL,
    width_pt    real NOT NULL DEFAULT 0,
    height_pt   real NOT NULL DEFAULT 0,
    error       text,
    PRIMARY KEY (document_id, number)
);

CREATE TABLE chunks (
    document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
    index       integer NOT NULL,
    page        integer NOT NULL,
    section     text NOT NULL DEFAULT '',
    span_start  integer NOT NULL,
    span_end    integer NOT NULL,
    boxes       jsonb NOT NULL DEFAULT '[]',
    text        text NOT NULL,
    md5         text NOT NULL,
    token_count integer NOT NULL DEFAULT 0,
    vector      vector NOT NULL,
    PRIMARY KEY (document_id, index)
);

-- What has been committed here and must still reach a derived store.
CREATE TABLE outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id     text NOT NULL,
    store           text NOT NULL CHECK (store IN ('dumps', 'chroma')),
    action          text NOT NULL CHECK (action IN ('put', 'remove')),
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    error           text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (document_id, store, action)
);

CREATE TABLE conversations (
    id         text PRIMARY KEY,
    title      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE messages (
    id              text PRIMARY KEY,
    conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question        text NOT NULL,
    answer          jsonb,
    error           text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX messages_conversation ON messages (conversation_id, created_at);

-- A citation keeps its passage, so that an old answer can be read after its document is gone.
CREATE TABLE citations (
    message_id  text NOT NULL REFERENCES messages ON DELETE CASCADE,
    number      integer NOT NULL,
    chunk_id    text NOT NULL,
    document_id text NOT NULL,
    title       text NOT NULL,
    page        integer NOT NULL,
    page_label  text NOT NULL,
    section     text NOT NULL,
    text        text NOT NULL,
    span_start  integer NOT NULL,
    span_end    integer NOT NULL,
    boxes       jsonb NOT NULL,
    score       double precision NOT NULL,
    score_kind  text NOT NULL,
    PRIMARY KEY (message_id, number)
);

CREATE TABLE queries (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id   text REFERENCES messages ON DELETE SET NULL,
    text         text NOT NULL,
    mode         text NOT NULL,
    top_k        integer NOT NULL,
    latency_ms   jsonb NOT NULL,
    confidence   double precision,
    document_ids text[] NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE preferences (
    name  text PRIMARY KEY,
    value text NOT NULL
);
