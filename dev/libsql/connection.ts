import Database from 'libsql';
import { type DescribeResult, HranaError, type Statement, type StatementResult } from './protocol.ts';
import { scanSql } from './scan-sql.ts';
import { decodeValue, encodeValue, type NativeValue } from './values.ts';

/** How long SQLite itself waits, blocking, for a lock that another process holds. */
const FOREIGN_LOCK_TIMEOUT_MS = 1_000;

/** One native connection. Every method is synchronous and throws a HranaError. */
export interface Connection {
  execute(sql: string, statement: Pick<Statement, 'args' | 'named_args' | 'want_rows'>): StatementResult;
  /** Runs all statements of the text, stopping at the first that fails. */
  sequence(sql: string): void;
  describe(sql: string): DescribeResult;
  inTransaction(): boolean;
  /** Rolls back and undoes what a stream may have set; false when the connection cannot be used for another stream. */
  reset(): boolean;
  close(): void;
}

export function openConnection(path: string, options: { durable: boolean }): Connection {
  let database = open();
  /**
   * In the native package a statement that met a locked database, and any EXPLAIN, stays active until it is collected. SQLite then
   * keeps the connection's snapshot and commits nothing more, so the connection is replaced as soon as it is out of its transaction.
   */
  let spoiled = false;

  function open() {
    const opened = new Database(path, { timeout: FOREIGN_LOCK_TIMEOUT_MS });
    opened.defaultSafeIntegers(true);
    opened.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${options.durable ? 'NORMAL' : 'OFF'}; PRAGMA foreign_keys=ON`);
    return opened;
  }

  function guarded<Result>(work: () => Result): Result {
    if (spoiled && !database.inTransaction) {
      database.close();
      database = open();
      spoiled = false;
    }
    try {
      return work();
    } catch (error) {
      if (error instanceof HranaError) throw error;
      const { code, message } = error as { code?: unknown; message: string };
      if (typeof code !== 'string') throw new HranaError('SQL_INPUT_ERROR', message);
      spoiled ||= code.startsWith('SQLITE_BUSY');
      throw new HranaError(code, message);
    }
  }

  function prepareOne(sql: string) {
    const { statements, isExplain } = scanSql(sql);
    if (statements === 0) throw new HranaError('SQL_NO_STATEMENT', 'SQL string does not contain any statement');
    if (statements > 1) throw new HranaError('SQL_MANY_STATEMENTS', 'SQL string contains more than one statement');
    if (isExplain && database.inTransaction)
      throw new HranaError('EXPLAIN_IN_TRANSACTION', 'EXPLAIN is not supported inside a transaction');
    spoiled ||= isExplain;
    return database.prepare(sql);
  }

  const columnsOf = (prepared: ReturnType<typeof prepareOne>) => prepared.columns().map(({ name, type }) => ({ name, decltype: type }));

  /** `total_changes`, `changes` and `last_insert_rowid`, exact where the native package's own are JavaScript numbers. */
  function counters(): [bigint, bigint, bigint] {
    const [row] = database.prepare('SELECT total_changes(), changes(), last_insert_rowid()').raw().all([]);
    return row as [bigint, bigint, bigint];
  }

  return {
    execute: (sql, statement) =>
      guarded(() => {
        const prepared = prepareOne(sql);
        const cols = columnsOf(prepared);
        const parameters = bindable(statement);
        const [before] = counters();
        let rows: NativeValue[][] = [];
        if (cols.length > 0) rows = prepared.raw().all(parameters) as NativeValue[][];
        else prepared.run(parameters);
        const [after, changes, rowid] = counters();
        const changed = after !== before;
        return {
          cols,
          rows: statement.want_rows ? rows.map((row) => row.map(encodeValue)) : [],
          affected_row_count: changed ? Number(changes) : 0,
          last_insert_rowid: changed ? String(rowid) : null,
        };
      }),
    sequence: (sql) => guarded(() => void database.exec(sql)),
    describe: (sql) =>
      guarded(() => {
        const cols = columnsOf(prepareOne(sql));
        const { parameters, isExplain, writes } = scanSql(sql);
        return { params: parameters.map((name) => ({ name })), cols, is_explain: isExplain, is_readonly: !writes };
      }),
    inTransaction: () => database.inTransaction,
    reset() {
      try {
        if (database.inTransaction) database.exec('ROLLBACK');
        database.exec('PRAGMA foreign_keys=ON');
        return !spoiled && database.prepare('SELECT 1 FROM temp.sqlite_schema').raw().all([]).length === 0;
      } catch {
        return false;
      }
    },
    close: () => void database.close(),
  };
}

/** The native package takes a list, or an object whose names lack their `:`, `@` or `$`. */
function bindable({ args, named_args }: Pick<Statement, 'args' | 'named_args'>): NativeValue[] | Record<string, NativeValue> {
  if (named_args.length === 0) return args.map(decodeValue);
  if (args.length > 0) throw new HranaError('ARGS_BOTH_POSITIONAL_AND_NAMED', 'Use positional or named arguments, not both');
  return Object.fromEntries(named_args.map(({ name, value }) => [name.replace(/^[:@$]/, ''), decodeValue(value)]));
}
