export type LogFields = Record<string, unknown>;

/** Structured logging. Fields are small facts: never keys, prompts, tool inputs or tool outputs. */
export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Writes one JSON line per event: `{ time, level, event, ...fields }`. Errors among the fields become `{ name, message, code?, cause?, stack }`. */
export function createLogger(write: (line: string) => void, now: () => Date = () => new Date()): Logger {
  const log =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      write(JSON.stringify({ ...fields, time: now().toISOString(), level, event }, isPlain(fields) ? undefined : describeErrors));
  return { info: log('info'), warn: log('warn'), error: log('error') };
}

/** Whether JSON can tell the fields as they are, which is much faster. */
const isPlain = (fields: LogFields): boolean =>
  Object.values(fields).every((value) =>
    Array.isArray(value) ? value.every((item) => typeof item === 'string') : typeof value !== 'object' && typeof value !== 'bigint',
  );

function describeErrors(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, cause, stack } = value;
  return { name, message, code: (value as { code?: unknown }).code, cause, stack };
}
