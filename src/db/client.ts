import {
  type Client,
  createClient,
  type InArgs,
  type InStatement,
  LibsqlError,
  type Transaction,
  type TransactionMode,
} from '@libsql/client/web';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { LibSQLDatabase } from 'drizzle-orm/libsql/driver-core';
import { LibSQLSession } from 'drizzle-orm/libsql/session';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { AppError } from '../errors.ts';

const TIMEOUT_MS = 5_000;

/** SQLite's own codes that say that a statement was wrong; all others say that the database is in no state to answer. */
const STATEMENT_FAULTS = /^(?:SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|AUTH)|SQL_|ARGS_|TRANSACTION_CLOSED)/;

export type Database = LibSQLDatabase;

export interface DatabaseOptions {
  /** `libsql:`, `https:` or `http:`. */
  url: string;
  authToken?: string | undefined;
  fetch?: typeof fetch;
}

/**
 * A libSQL database over HTTP. Each query rejects with an AppError `database_unavailable` when the database does not answer well
 * within 5 s, and with the client's LibsqlError when the statement itself was refused.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const dialect = new SQLiteAsyncDialect();
  return new LibSQLDatabase('async', dialect, new PlainErrorSession(openClient(options), dialect, undefined, {}, undefined), undefined);
}

/** The client below `openDatabase`, for what is not a query of drizzle's. */
export function openClient({ url, authToken, fetch: send = fetch }: DatabaseOptions): Client {
  const client = createClient({
    url,
    ...(authToken === undefined ? {} : { authToken }),
    // A queue would start one request's query in the life of another, which workerd ends with the other's.
    concurrency: Number.POSITIVE_INFINITY,
    fetch: (request: Request) => fetchInTime(request, send),
  });
  return guardClient(client);
}

/** Whether the error says that a row with the same unique columns exists already. Servers differ in how much the code says. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof LibsqlError && error.code.startsWith('SQLITE_CONSTRAINT') && error.message.includes('UNIQUE constraint failed');

type PlainSession = LibSQLSession<Record<string, never>, Record<string, never>>;

/** Drizzle wraps an error into one whose message holds the query's parameters, which must reach neither logs nor callers. */
class PlainErrorSession extends LibSQLSession<Record<string, never>, Record<string, never>> {
  override prepareQuery(...parameters: Parameters<PlainSession['prepareQuery']>): never {
    const prepared = super.prepareQuery(...parameters);
    return Object.assign(prepared, { queryWithCache: (_sql: string, _parameters: unknown, query: () => unknown) => query() }) as never;
  }

  override async transaction<Result>(...parameters: Parameters<typeof LibSQLSession.prototype.transaction<Result>>): Promise<Result> {
    try {
      return await super.transaction(...parameters);
    } catch (error) {
      throw error instanceof DrizzleQueryError ? error.cause : error;
    }
  }
}

/** The whole answer, or an AppError: the client's own reading of the body knows no timeout. */
async function fetchInTime(request: Request, send: typeof fetch): Promise<Response> {
  try {
    const response = await send(request, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body = await response.arrayBuffer();
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): AppError {
  return Object.assign(new AppError('database_unavailable', 'The database cannot be reached'), { cause });
}

function toPlainError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  return error instanceof LibsqlError && STATEMENT_FAULTS.test(error.code) ? error : unavailable(error);
}

async function guard<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toPlainError(error);
  }
}

type BatchStatements = Parameters<Client['batch']>[0];

const sqlOf = (statement: BatchStatements[number]): string =>
  typeof statement === 'string' ? statement : Array.isArray(statement) ? statement[0] : statement.sql;

/** A batch that reads first and writes then would fail, rather than wait, when another writes at the same time. */
const modeFor = (statements: BatchStatements): TransactionMode =>
  statements.every((statement) => /^\s*select\b/i.test(sqlOf(statement))) ? 'deferred' : 'write';

function guardClient(client: Client): Client {
  return {
    protocol: client.protocol,
    get closed() {
      return client.closed;
    },
    execute: (statement: InStatement, args?: InArgs) =>
      guard(() => (typeof statement === 'string' ? client.execute(statement, args) : client.execute(statement))),
    batch: (statements, mode = modeFor(statements)) => guard(() => client.batch(statements, mode)),
    migrate: (statements) => guard(() => client.migrate(statements)),
    executeMultiple: (sql) => guard(() => client.executeMultiple(sql)),
    transaction: async (mode: TransactionMode = 'write') => guardTransaction(await guard(() => client.transaction(mode))),
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
}

function guardTransaction(transaction: Transaction): Transaction {
  return {
    execute: (statement) => guard(() => transaction.execute(statement)),
    batch: (statements) => guard(() => transaction.batch(statements)),
    executeMultiple: (sql) => guard(() => transaction.executeMultiple(sql)),
    commit: () => guard(() => transaction.commit()),
    rollback: () => guard(() => transaction.rollback()),
    close: () => transaction.close(),
    get closed() {
      return transaction.closed;
    },
  };
}
