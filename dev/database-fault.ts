import { LibsqlError } from '@libsql/client/web';

/** Servers say it by a code of theirs, or by the status alone. */
function isAboutToken(error: unknown): boolean {
  if (!(error instanceof LibsqlError)) return false;
  const status = (error.cause as { status?: unknown } | undefined)?.status;
  return error.code.startsWith('AUTH_') || status === 401 || status === 403;
}

/** A fault of the database at LIBSQL_URL, in one line for people. It names the host and never more of the address, which may hold a token. */
export function databaseFault({ url, authToken }: { url: string; authToken?: string }, error: Error): Error {
  const { protocol, host } = new URL(url);
  const where = `the database at LIBSQL_URL (${protocol}//${host})`;
  const { message, cause } = error;
  const reason = cause instanceof Error && !message.includes(cause.message) ? cause.message : message;
  // What `fetch` rejects with.
  if (error instanceof TypeError) return new Error(`${where} cannot be reached: ${reason}`, { cause: error });
  if (isAboutToken(error)) {
    const what = authToken ? 'refuses LIBSQL_AUTH_TOKEN' : 'asks for a token, and LIBSQL_AUTH_TOKEN is not set';
    return new Error(`${where} ${what}: ${message}`, { cause: error });
  }
  return new Error(`${where}: ${message}`, { cause: error });
}
