import { customType, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { TASK_STATES, type TaskContent } from '../a2a/task.ts';
import type { ApprovalStatus } from '../execution/approval.ts';
import { EXECUTION_STATUSES } from '../execution/execution.ts';
import type { JsonValue } from '../json.ts';
import { type RiskFinding, SKILL_KINDS, SKILL_MODES, SKILL_POLICIES, type SkillSchema, SOURCE_PROVIDERS } from '../skills/skill.ts';

/*
 * The tables as `migrations/` makes them, for typed queries; checks, defaults and further indexes stand there alone.
 * Times are ISO 8601 UTC with milliseconds, so that they compare as text.
 */

/** Where there is no Buffer, drizzle decodes a blob as text before this sees it: read blobs by raw queries. */
const blob = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' });

export const skills = sqliteTable(
  'skills',
  {
    id: text().primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    name: text().notNull(),
    version: text().notNull(),
    description: text().notNull(),
    schema: text({ mode: 'json' }).$type<SkillSchema>().notNull(),
    handler: text().notNull(),
    kind: text({ enum: SKILL_KINDS }).notNull(),
    enabled: integer({ mode: 'boolean' }).notNull().default(true),
    mode: text({ enum: SKILL_MODES }).notNull().default('on'),
    modeWhenEnabled: text('mode_when_enabled', { enum: ['on', 'auto'] })
      .notNull()
      .default('on'),
    policy: text({ enum: SKILL_POLICIES }).notNull().default('auto'),
    sourceProvider: text('source_provider', { enum: SOURCE_PROVIDERS }).notNull(),
    sourceUrl: text('source_url'),
    contentSha256: text('content_sha256'),
    tags: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    installCount: integer('install_count').notNull().default(0),
    timeoutMs: integer('timeout_ms'),
    maxRetries: integer('max_retries'),
    idempotent: integer({ mode: 'boolean' }).notNull().default(false),
    createdAt: text('created_at').notNull(),
    updatedAt: text('updated_at').notNull(),
    riskFindings: text('risk_findings', { mode: 'json' }).$type<RiskFinding[]>().notNull().default([]),
  },
  (table) => [uniqueIndex('skills_identity').on(table.apiKeyId, table.name, table.version)],
);

export const skillExecutions = sqliteTable(
  'skill_executions',
  {
    id: text().primaryKey(),
    skillId: text('skill_id').references(() => skills.id, { onDelete: 'set null' }),
    skillName: text('skill_name').notNull(),
    skillVersion: text('skill_version').notNull(),
    apiKeyId: text('api_key_id').notNull(),
    sessionId: text('session_id'),
    requestId: text('request_id').notNull(),
    callId: text('call_id').notNull(),
    input: text({ mode: 'json' }).$type<JsonValue>().notNull(),
    output: text({ mode: 'json' }).$type<JsonValue>(),
    status: text({ enum: EXECUTION_STATUSES }).notNull(),
    errorMessage: text('error_message'),
    durationMs: integer('duration_ms'),
    attempts: integer().notNull().default(0),
    sandboxId: text('sandbox_id'),
    createdAt: text('created_at').notNull(),
    startedAt: text('started_at'),
    finishedAt: text('finished_at'),
    leaseExpiresAt: text('lease_expires_at'),
  },
  (table) => [uniqueIndex('skill_executions_claim').on(table.apiKeyId, table.requestId, table.callId)],
);

export const settings = sqliteTable('settings', {
  key: text().primaryKey(),
  value: text({ mode: 'json' }).$type<JsonValue>().notNull(),
  updatedAt: text('updated_at').notNull(),
});

export const apiKeys = sqliteTable('api_keys', {
  id: text().primaryKey(),
  name: text().notNull(),
  keySha256: text('key_sha256').notNull().unique(),
  scopes: text({ mode: 'json' }).$type<string[]>().notNull(),
  createdAt: text('created_at').notNull(),
  routingMemory: integer('routing_memory', { mode: 'boolean' }).notNull().default(false),
});

export const approvals = sqliteTable('approvals', {
  id: text().primaryKey(),
  apiKeyId: text('api_key_id').notNull(),
  skillId: text('skill_id').references(() => skills.id, { onDelete: 'set null' }),
  skillName: text('skill_name').notNull(),
  skillVersion: text('skill_version').notNull(),
  input: text({ mode: 'json' }).$type<JsonValue>().notNull(),
  inputSha256: text('input_sha256').notNull(),
  sessionId: text('session_id'),
  status: text().$type<ApprovalStatus>().notNull(),
  executionId: text('execution_id').references(() => skillExecutions.id, { onDelete: 'set null' }),
  createdAt: text('created_at').notNull(),
  expiresAt: text('expires_at').notNull(),
});

export const suspendedTurns = sqliteTable('suspended_turns', {
  id: text().primaryKey(),
  apiKeyId: text('api_key_id').notNull(),
  transcript: text({ mode: 'json' }).$type<JsonValue>().notNull(),
  createdAt: text('created_at').notNull(),
  expiresAt: text('expires_at').notNull(),
});

export const workspaceFiles = sqliteTable(
  'workspace_files',
  {
    workspace: text().notNull(),
    path: text().notNull(),
    content: blob().notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    createdAt: text('created_at').notNull(),
    updatedAt: text('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspace, table.path] })],
);

export const webhooks = sqliteTable('webhooks', {
  id: text().primaryKey(),
  name: text().notNull().unique(),
  url: text().notNull(),
  secret: text().notNull(),
  timeoutMs: integer('timeout_ms').notNull(),
  createdAt: text('created_at').notNull(),
  updatedAt: text('updated_at').notNull(),
});

export const routingMemory = sqliteTable('routing_memory', {
  id: integer().primaryKey(),
  apiKeyId: text('api_key_id').notNull(),
  provider: text().notNull(),
  model: text().notNull(),
  skills: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  success: integer({ mode: 'boolean' }).notNull(),
  latencyMs: integer('latency_ms'),
  inputTokens: integer('input_tokens'),
  outputTokens: integer('output_tokens'),
  digest: text().notNull(),
  createdAt: text('created_at').notNull(),
});

export const a2aTasks = sqliteTable('a2a_tasks', {
  id: text().primaryKey(),
  apiKeyId: text('api_key_id').notNull(),
  contextId: text('context_id').notNull(),
  state: text({ enum: TASK_STATES }).notNull(),
  task: text({ mode: 'json' }).$type<TaskContent>().notNull(),
  createdAt: text('created_at').notNull(),
  updatedAt: text('updated_at').notNull(),
  expiresAt: text('expires_at').notNull(),
  leaseExpiresAt: text('lease_expires_at'),
});
