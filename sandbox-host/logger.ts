/** Writes one event as a line of JSON. Never give it programs, output or secrets. */
export type Logger = (level: 'info' | 'warn' | 'error', event: string, fields?: Record<string, string | number | boolean>) => void;

export const createLogger =
  (write: (line: string) => void, now: () => Date): Logger =>
  (level, event, fields = {}) =>
    write(`${JSON.stringify({ time: now().toISOString(), level, event, ...fields })}\n`);
