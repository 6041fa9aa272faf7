import { z } from 'zod';

/** Paths of the sandbox-host's HTTP interface. */
export const RUNS_PATH = '/v1/runs';

export const runId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

/** A file of `/workspace`: a relative path and its bytes as base64. */
export const runFile = z.strictObject({ path: z.string().min(1).max(512), contentBase64: z.base64() });

export const runLimits = z.strictObject({
  /** Thousandths of a CPU. */
  cpuLimit: z.int().min(10).max(8_000).default(100),
  /** MiB. */
  memoryLimit: z.int().min(16).max(8_192).default(256),
  timeoutMs: z.int().min(1).max(60_000).default(30_000),
  networkEnabled: z.boolean().default(false),
  readOnly: z.boolean().default(true),
  maxOutputChars: z.int().min(1).max(10_000_000).default(100_000),
  /** Largest file of `/workspace` that is returned, in bytes. */
  maxFileBytes: z.int().min(0).max(67_108_864).default(1_048_576),
});

/** One run of one program in one container. The same id sent again gets the same run, so a repeat never runs twice. */
export const runRequest = z.strictObject({
  id: runId,
  image: z.string().min(1).max(255),
  command: z.array(z.string()).min(1).max(1_000),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  stdin: z.string().default(''),
  files: z.array(runFile).max(1_000).default([]),
  /** Whether files that the program made or changed in `/workspace` come back. */
  returnFiles: z.boolean().default(false),
  limits: runLimits.prefault({}),
});

export const runResult = z.strictObject({
  id: runId,
  exitCode: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  timedOut: z.boolean(),
  oomKilled: z.boolean(),
  killed: z.boolean(),
  durationMs: z.number(),
  queuedMs: z.number(),
  warm: z.boolean(),
  files: z.array(runFile),
});

/** With `accept: application/x-ndjson` a run answers with one of these a line, the last being a result or an error. */
export const runEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('output'), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.strictObject({ type: z.literal('result'), result: runResult }),
  z.strictObject({ type: z.literal('error'), code: z.string(), error: z.string() }),
]);

export type RunFile = z.infer<typeof runFile>;
export type RunLimits = z.infer<typeof runLimits>;
/** What a caller sends: fields with a default may be left out. */
export type RunRequestInput = z.input<typeof runRequest>;
export type RunRequest = z.infer<typeof runRequest>;
export type RunResult = z.infer<typeof runResult>;
export type RunEvent = z.infer<typeof runEvent>;

/** Error codes of the sandbox-host, with their HTTP status. */
export const HOST_ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  image_not_allowed: 403,
  not_found: 404,
  id_in_use: 409,
  payload_too_large: 413,
  queue_full: 429,
  internal_error: 500,
  docker_unavailable: 503,
  image_missing: 503,
  draining: 503,
} as const;
export type HostErrorCode = keyof typeof HOST_ERROR_STATUS;

export const hostError = z.object({ error: z.string(), code: z.string() });
