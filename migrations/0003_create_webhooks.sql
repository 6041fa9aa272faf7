CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  -- What a skill's handler names.
  name TEXT NOT NULL UNIQUE,
  url TEXT NOT NULL,
  -- In clear, since every call is signed with it and no digest of it could do that. Read for a call alone, never to answer or log it.
  secret TEXT NOT NULL,
  timeout_ms INTEGER NOT NULL CHECK (timeout_ms > 0),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
