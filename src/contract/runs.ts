import * as z from 'zod';

/** Paths of the sandbox-host's HTTP interface. */
export const RUNS_PATH = '/v1/runs';
export const HEALTH_PATH = '/healthz';
export const READY_PATH = '/readyz';
/** Header of every answer of the sandbox-host: `<runs that run or wait>/<runs at a time>`. */
export const LOAD_HEADER = 'x-sandbox-load';
/** Header of every answer of the sandbox-host: names its life from start to end. The next life knows none of the runs of this one. */
export const LIFE_HEADER = 'x-sandbox-life';
/** Query of a run that must not begin twice: the life that is to take it. Another one refuses with `host_restarted`. */
export const LIFE_QUERY = 'life';

/** Largest request body, in bytes. */
export const MAX_REQUEST_BYTES = 20_971_520;
/** What is said of a run that is more. */
export const TOO_LARGE = `Program and files are larger than ${MAX_REQUEST_BYTES} bytes`;
/** Most files that come back, and their most bytes together; what is past either is told in `skippedFiles`. */
export const MAX_RETURNED_FILES = 1_000;
export const MAX_RETURNED_BYTES = 16_777_216;
/** Longest path of a file of `/workspace`, in bytes of UTF-8. */
export const MAX_PATH_BYTES = 512;
/** Most files that did not come back and are named, and the characters of such a name. */
export const MAX_SKIPPED_FILES = 100;
export const MAX_SKIPPED_PATH_CHARS = 512;
/** Linux starts no program with a longer argument or environment variable (MAX_ARG_STRLEN), its closing NUL not counted. */
export const MAX_ARGUMENT_BYTES = 131_071;

export const runId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;

/** Whether a path stays in `/workspace` on every system: relative, without empty, `.` and `..` segments. */
export const isWorkspacePath = (path: string): boolean =>
  !path.includes('\0') &&
  utf8Bytes(path) <= MAX_PATH_BYTES &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..' && utf8Bytes(segment) <= 255);

/** A file of `/workspace`: a relative path and its bytes as base64. */
export const runFile = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(MAX_PATH_BYTES)
    .refine(isWorkspacePath, `Use a relative path of at most ${MAX_PATH_BYTES} bytes without "." and ".." in it`),
  contentBase64: z.base64(),
});

/** A file that did not come back. The path is for people to read, and is no path when the reason says so; `.` stands for what could not be listed. */
export const skippedFile = z.strictObject({ path: z.string().max(MAX_SKIPPED_PATH_CHARS), reason: z.string().max(200) });

const argument = z
  .string()
  .refine((text) => !text.includes('\0'), 'A NUL character cannot be passed to a program')
  .refine((text) => utf8Bytes(text) <= MAX_ARGUMENT_BYTES, `Longer than ${MAX_ARGUMENT_BYTES} bytes`);

export const runLimits = z.strictObject({
  /** Thousandths of a CPU. */
  cpuLimit: z.int().min(10).max(8_000).default(100),
  /** MiB. */
  memoryLimit: z.int().min(16).max(8_192).default(256),
  timeoutMs: z.int().min(1).max(60_000).default(30_000),
  networkEnabled: z.boolean().default(false),
  readOnly: z.boolean().default(true),
  /** UTF-16 units of each of stdout and stderr. */
  maxOutputChars: z.int().min(1).max(10_000_000).default(100_000),
  /** Largest file of `/workspace` that is returned, in bytes. */
  maxFileBytes: z.int().min(0).max(67_108_864).default(1_048_576),
});

/** One run of one program in one container. The same id sent again gets the same run, so a repeat never runs twice. */
export const runRequest = z.strictObject({
  id: runId,
  image: z.string().min(1).max(255),
  command: z.array(argument).min(1).max(1_000),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), argument).default({}),
  stdin: z.string().default(''),
  files: z
    .array(runFile)
    .max(1_000)
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, 'A path stands in it twice')
    .default([]),
  /** Whether files that the program made or changed in `/workspace` come back. */
  returnFiles: z.boolean().default(false),
  limits: runLimits.prefault({}),
});

export const runResult = z.strictObject({
  id: runId,
  /** 128 + signal when a signal ended the program. */
  exitCode: z.int(),
  /** Name of the signal that ended the program, if one did, such as SIGKILL. */
  signal: z
    .string()
    .regex(/^SIG[A-Z0-9]{1,16}$/)
    .optional(),
  stdout: z.string(),
  stderr: z.string(),
  /** Whether output was cut at `maxOutputChars`; a program that goes on writing is killed. */
  truncated: z.boolean(),
  timedOut: z.boolean(),
  oomKilled: z.boolean(),
  /** Whether the host ended the program: at its timeout, for too much output, or because it was asked to. */
  killed: z.boolean(),
  /** From the program's start to its end. */
  durationMs: z.number(),
  queuedMs: z.number(),
  /** CPU time of the program and of what it started; unknown when the kernel or the end of the container left nothing to read. */
  cpuMs: z.number().min(0).optional(),
  /** The most memory that the container held at a time, files in `/workspace` and `/tmp` included; unknown as above. */
  maxMemoryBytes: z.int().min(0).optional(),
  /** Whether the container was started before the request came. */
  warm: z.boolean(),
  files: z.array(runFile),
  /** Files that the program made or changed and that did not come back: the first of them, and the number of all. */
  skippedFiles: z.array(skippedFile).max(MAX_SKIPPED_FILES).optional(),
  skippedFileCount: z.int().min(0).optional(),
});

/** Asked for by `accept`: a run answers with one JSON object a line. */
export const RUN_EVENTS_TYPE = 'application/x-ndjson';
export const OUTPUT_STREAMS = ['stdout', 'stderr'] as const;
/** Longest text of an event, in UTF-16 units. */
export const MAX_EVENT_CHARS = 8_192;

/** Whole lines of output, or a piece of a line that is long or waits for its end. */
export const outputEvent = z.strictObject({ type: z.enum(OUTPUT_STREAMS), text: z.string().max(MAX_EVENT_CHARS) });
export const errorEvent = z.strictObject({ type: z.literal('error'), error: z.string(), code: z.string() });

/**
 * With `accept: application/x-ndjson` a run that has begun answers with one of these a line: its output in the order in which it came, then exactly one result
 * or error. White space before an object keeps a silent answer alive.
 */
export const runEvent = z.discriminatedUnion('type', [outputEvent, runResult.extend({ type: z.literal('result') }), errorEvent]);

export type RunFile = z.infer<typeof runFile>;
export type SkippedFile = z.infer<typeof skippedFile>;
export type RunLimits = z.infer<typeof runLimits>;
/** What a caller sends: fields with a default may be left out. */
export type RunRequestInput = z.input<typeof runRequest>;
export type RunRequest = z.infer<typeof runRequest>;
export type RunResult = z.infer<typeof runResult>;
export type RunEvent = z.infer<typeof runEvent>;
export type OutputStream = (typeof OUTPUT_STREAMS)[number];

/** Error codes of the sandbox-host, with their HTTP status. Nothing has run after any of them but `internal_error` and `id_in_use`. */
export const HOST_ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  clock_skew: 401,
  image_not_allowed: 403,
  network_not_allowed: 403,
  not_found: 404,
  id_in_use: 409,
  host_restarted: 412,
  payload_too_large: 413,
  image_unusable: 422,
  queue_full: 429,
  internal_error: 500,
  docker_unavailable: 503,
  image_missing: 503,
  browser_disabled: 503,
  draining: 503,
} as const;
export type HostErrorCode = keyof typeof HOST_ERROR_STATUS;

export const hostError = z.object({ error: z.string(), code: z.string() });
