import { z } from 'zod';

/**
 * The JSON of Hrana over HTTP, versions 2 and 3, as far as this server speaks it.
 * Source: https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md
 */
const value = z.discriminatedUnion('type', [
  z.object({ type: z.literal('null') }),
  z.object({ type: z.literal('integer'), value: z.string().regex(/^-?\d+$/) }),
  z.object({ type: z.literal('float'), value: z.number() }),
  z.object({ type: z.literal('text'), value: z.string() }),
  z.object({ type: z.literal('blob'), base64: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/) }),
]);

const sqlSource = { sql: z.string().optional(), sql_id: z.int().optional() };

const statement = z.object({
  ...sqlSource,
  args: z.array(value).default([]),
  named_args: z.array(z.object({ name: z.string(), value })).default([]),
  want_rows: z.boolean().default(true),
});

export type BatchCondition =
  | { type: 'ok' | 'error'; step: number }
  | { type: 'not'; cond: BatchCondition }
  | { type: 'and' | 'or'; conds: BatchCondition[] }
  | { type: 'is_autocommit' };

const batchCondition: z.ZodType<BatchCondition> = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.enum(['ok', 'error']), step: z.int().min(0) }),
    z.object({ type: z.literal('not'), cond: batchCondition }),
    z.object({ type: z.enum(['and', 'or']), conds: z.array(batchCondition) }),
    z.object({ type: z.literal('is_autocommit') }),
  ]),
);

const batch = z.object({
  steps: z.array(z.object({ condition: batchCondition.nullish(), stmt: statement })),
});

const streamRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('execute'), stmt: statement }),
  z.object({ type: z.literal('batch'), batch }),
  z.object({ type: z.literal('sequence'), ...sqlSource }),
  z.object({ type: z.literal('describe'), ...sqlSource }),
  z.object({ type: z.literal('store_sql'), sql_id: z.int(), sql: z.string() }),
  z.object({ type: z.literal('close_sql'), sql_id: z.int() }),
  z.object({ type: z.literal('get_autocommit') }),
  z.object({ type: z.literal('close') }),
]);

export const pipelineRequest = z.object({ baton: z.string().nullish(), requests: z.array(streamRequest) });

export type WireValue = z.infer<typeof value>;
export type SqlSource = { sql?: string | undefined; sql_id?: number | undefined };
export type Statement = z.infer<typeof statement>;
export type Batch = z.infer<typeof batch>;
export type StreamRequest = z.infer<typeof streamRequest>;

export interface StatementResult {
  cols: { name: string; decltype: string | null }[];
  rows: WireValue[][];
  affected_row_count: number;
  last_insert_rowid: string | null;
}

export interface WireError {
  message: string;
  code: string;
}

export interface BatchResult {
  step_results: (StatementResult | null)[];
  step_errors: (WireError | null)[];
}

export interface DescribeResult {
  params: { name: string | null }[];
  cols: { name: string; decltype: string | null }[];
  is_explain: boolean;
  is_readonly: boolean;
}

export type StreamResponse =
  | { type: 'execute'; result: StatementResult }
  | { type: 'batch'; result: BatchResult }
  | { type: 'describe'; result: DescribeResult }
  | { type: 'get_autocommit'; is_autocommit: boolean }
  | { type: 'sequence' | 'store_sql' | 'close_sql' | 'close' };

/** A failure that the client reads as `{ message, code }`. */
export class HranaError extends Error {
  override readonly name = 'HranaError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
