const MAX_FRAMES = 20;

/** What the log may hold of an error that nobody foresaw: its kind and where it was thrown. Its message may quote what a user said. */
export function describeUnexpected(error: unknown): { errorName: string; reason?: string; stack: string[] } {
  if (!(error instanceof Error)) return { errorName: typeof error, stack: [] };
  const { stack = '', message } = error;
  const frames = stack
    .slice(stack.indexOf(message) + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  // A database's message names tables and columns, never what is stored in them.
  const reason = error.name === 'LibsqlError' ? { reason: message } : {};
  return { errorName: error.name, ...reason, stack: frames.slice(0, MAX_FRAMES).map((line) => line.trim()) };
}
