CREATE TABLE skills (
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  description TEXT NOT NULL,
  schema TEXT NOT NULL,
  handler TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('builtin', 'handler', 'instructions')),
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  mode TEXT NOT NULL DEFAULT 'on' CHECK (mode IN ('on', 'off', 'auto')),
  -- The mode to bring back when a skill that was switched off is enabled again.
  mode_when_enabled TEXT NOT NULL DEFAULT 'on' CHECK (mode_when_enabled IN ('on', 'auto')),
  policy TEXT NOT NULL DEFAULT 'auto' CHECK (policy IN ('auto', 'manual', 'hybrid')),
  source_provider TEXT NOT NULL CHECK (source_provider IN ('builtin', 'skillsmp', 'skillssh', 'local')),
  source_url TEXT,
  content_sha256 TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  install_count INTEGER NOT NULL DEFAULT 0,
  timeout_ms INTEGER CHECK (timeout_ms > 0),
  max_retries INTEGER CHECK (max_retries >= 0),
  idempotent INTEGER NOT NULL DEFAULT 0 CHECK (idempotent IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (api_key_id, name, version),
  CHECK (enabled = (mode <> 'off'))
);
CREATE INDEX skills_owner_name ON skills (api_key_id, name);

CREATE TABLE skill_executions (
  id TEXT PRIMARY KEY,
  skill_id TEXT REFERENCES skills (id) ON DELETE SET NULL,
  skill_name TEXT NOT NULL,
  skill_version TEXT NOT NULL,
  api_key_id TEXT NOT NULL,
  session_id TEXT,
  request_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  input TEXT NOT NULL,
  output TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'success', 'error', 'timeout')),
  error_message TEXT,
  duration_ms INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  sandbox_id TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  lease_expires_at TEXT,
  UNIQUE (api_key_id, request_id, call_id)
);
CREATE INDEX skill_executions_skill ON skill_executions (skill_id, status, created_at);
CREATE INDEX skill_executions_owner ON skill_executions (api_key_id, created_at);
CREATE INDEX skill_executions_lease ON skill_executions (lease_expires_at) WHERE status IN ('pending', 'running');

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  key_sha256 TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  skill_id TEXT REFERENCES skills (id) ON DELETE SET NULL,
  skill_name TEXT NOT NULL,
  skill_version TEXT NOT NULL,
  input TEXT NOT NULL,
  input_sha256 TEXT NOT NULL,
  session_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'used', 'expired')),
  execution_id TEXT REFERENCES skill_executions (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX approvals_owner ON approvals (api_key_id, created_at);

CREATE TABLE suspended_turns (
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  transcript TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX suspended_turns_expiry ON suspended_turns (expires_at);

CREATE TABLE workspace_files (
  workspace TEXT NOT NULL,
  path TEXT NOT NULL,
  content BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (workspace, path)
);
-- Answers how much a workspace holds without reading its files.
CREATE INDEX workspace_files_usage ON workspace_files (workspace, size_bytes);

CREATE TABLE a2a_tasks (
  id TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL,
  context_id TEXT NOT NULL,
  state TEXT NOT NULL,
  task TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX a2a_tasks_owner ON a2a_tasks (api_key_id, created_at);
