-- Keys of the doors for programs, by the hash of their secrets, and an audit of what was changed through them.

CREATE TABLE access_keys (
    id text PRIMARY KEY,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    tags text[] NOT NULL DEFAULT '{}',
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    who text NOT NULL,
    action text NOT NULL,
    status integer NOT NULL
);
