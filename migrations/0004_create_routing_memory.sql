ALTER TABLE api_keys ADD COLUMN routing_memory INTEGER NOT NULL DEFAULT 0 CHECK (routing_memory IN (0, 1));

-- How requests of keys that asked for it went; the digest is distinct words, separated by spaces.
CREATE TABLE routing_memory (
  id INTEGER PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  skills TEXT NOT NULL DEFAULT '[]',
  success INTEGER NOT NULL CHECK (success IN (0, 1)),
  latency_ms INTEGER CHECK (latency_ms >= 0),
  input_tokens INTEGER CHECK (input_tokens >= 0),
  output_tokens INTEGER CHECK (output_tokens >= 0),
  digest TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE INDEX routing_memory_owner ON routing_memory (api_key_id, id);
CREATE INDEX routing_memory_age ON routing_memory (created_at);

-- The owner is searched for together with the words, so that a search costs what one key has and not what all have.
CREATE VIRTUAL TABLE routing_memory_search USING fts5 (
  api_key_id, digest, content = 'routing_memory', content_rowid = 'id',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
CREATE TRIGGER routing_memory_inserted AFTER INSERT ON routing_memory BEGIN
  INSERT INTO routing_memory_search (rowid, api_key_id, digest) VALUES (new.id, new.api_key_id, new.digest);
END;
CREATE TRIGGER routing_memory_deleted AFTER DELETE ON routing_memory BEGIN
  INSERT INTO routing_memory_search (routing_memory_search, rowid, api_key_id, digest)
  VALUES ('delete', old.id, old.api_key_id, old.digest);
END;

-- Made anew, since SQLite adds no CHECK to a table that is there; a task is of use for a day at most.
DROP TABLE a2a_tasks;
CREATE TABLE a2a_tasks (
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  context_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('submitted', 'working', 'input-required', 'completed', 'failed', 'canceled')),
  task TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  lease_expires_at TEXT
);
CREATE INDEX a2a_tasks_owner ON a2a_tasks (api_key_id, updated_at);
CREATE INDEX a2a_tasks_expiry ON a2a_tasks (expires_at);
CREATE INDEX a2a_tasks_lease ON a2a_tasks (lease_expires_at) WHERE state IN ('submitted', 'working');

-- The life of a task: whatever a program does, it takes no other way.
CREATE TRIGGER a2a_tasks_transition BEFORE UPDATE OF state ON a2a_tasks
WHEN NOT (
  old.state = new.state
  OR (old.state = 'submitted' AND new.state IN ('working', 'failed', 'canceled'))
  OR (old.state = 'working' AND new.state IN ('input-required', 'completed', 'failed', 'canceled'))
  OR (old.state = 'input-required' AND new.state IN ('submitted', 'failed', 'canceled'))
)
BEGIN
  SELECT RAISE(ABORT, 'illegal transition of a task');
END;
