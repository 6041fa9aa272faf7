import type { Connection } from './connection.ts';
import {
  type Batch,
  type BatchCondition,
  type BatchResult,
  HranaError,
  type SqlSource,
  type Statement,
  type StatementResult,
  type StreamRequest,
  type StreamResponse,
  type WireError,
} from './protocol.ts';
import { scanSql } from './scan-sql.ts';
import type { WriteLock } from './write-lock.ts';

/** One Hrana stream: a connection, the texts stored for it, and the transaction that may be open on it. */
export interface Stream {
  /** Rejects with a HranaError. */
  handle(request: StreamRequest, signal: AbortSignal): Promise<StreamResponse>;
  /** Rolls back what is open. */
  close(): void;
  readonly closed: boolean;
}

interface Dependencies {
  connection: Connection;
  lock: WriteLock;
  /** How long a statement waits for another stream's transaction. */
  busyTimeoutMs: number;
  giveBack(connection: Connection): void;
}

export const wireError = (error: unknown): WireError => {
  if (error instanceof HranaError) return { message: error.message, code: error.code };
  throw error;
};

export function createStream({ connection, lock, busyTimeoutMs, giveBack }: Dependencies): Stream {
  const owner = {};
  const storedSql = new Map<number, string>();
  let closed = false;

  function sqlOf({ sql, sql_id }: SqlSource): string {
    if ((sql === undefined) === (sql_id === undefined)) throw new HranaError('SQL_INPUT_ERROR', 'Give either sql or sql_id');
    const text = sql ?? storedSql.get(sql_id as number);
    if (text === undefined) throw new HranaError('SQL_STORE_NOT_FOUND', `SQL text ${sql_id} is not stored`);
    return text;
  }

  async function withLock<Result>(writes: boolean, signal: AbortSignal, work: () => Result): Promise<Result> {
    if (writes) await lock.acquire(owner, { timeoutMs: busyTimeoutMs, signal });
    try {
      return work();
    } finally {
      if (!connection.inTransaction()) lock.release(owner);
    }
  }

  async function execute(statement: Statement, signal: AbortSignal): Promise<StatementResult> {
    const sql = sqlOf(statement);
    return withLock(scanSql(sql).writes, signal, () => connection.execute(sql, statement));
  }

  async function runBatch({ steps }: Batch, signal: AbortSignal): Promise<BatchResult> {
    const result: BatchResult = { step_results: [], step_errors: [] };
    for (const { condition, stmt } of steps) {
      const runs = condition == null || holds(condition, result, connection);
      try {
        result.step_results.push(runs ? await execute(stmt, signal) : null);
        result.step_errors.push(null);
      } catch (error) {
        result.step_errors.push(wireError(error));
        result.step_results.push(null);
      }
    }
    return result;
  }

  return {
    async handle(request, signal) {
      if (closed) throw new HranaError('STREAM_CLOSED', 'The stream is closed');
      const { type } = request;
      switch (type) {
        case 'execute':
          return { type, result: await execute(request.stmt, signal) };
        case 'batch':
          return { type, result: await runBatch(request.batch, signal) };
        case 'sequence':
          await withLock(true, signal, () => connection.sequence(sqlOf(request)));
          return { type };
        case 'describe':
          return { type, result: connection.describe(sqlOf(request)) };
        case 'store_sql':
          if (storedSql.has(request.sql_id)) throw new HranaError('SQL_STORE_EXISTS', `SQL text ${request.sql_id} is stored already`);
          storedSql.set(request.sql_id, request.sql);
          return { type };
        case 'close_sql':
          storedSql.delete(request.sql_id);
          return { type };
        case 'get_autocommit':
          return { type, is_autocommit: !connection.inTransaction() };
        case 'close':
          this.close();
          return { type };
      }
    },
    close() {
      if (closed) return;
      closed = true;
      giveBack(connection);
      lock.release(owner);
    },
    get closed() {
      return closed;
    },
  };
}

function holds(condition: BatchCondition, result: BatchResult, connection: Connection): boolean {
  switch (condition.type) {
    case 'ok':
    case 'error': {
      if (condition.step >= result.step_results.length) throw new HranaError('BATCH_COND_BAD_STEP', 'A condition names a later step');
      const steps = condition.type === 'ok' ? result.step_results : result.step_errors;
      return steps[condition.step] !== null;
    }
    case 'not':
      return !holds(condition.cond, result, connection);
    case 'and':
      return condition.conds.every((part) => holds(part, result, connection));
    case 'or':
      return condition.conds.some((part) => holds(part, result, connection));
    case 'is_autocommit':
      return !connection.inTransaction();
  }
}
