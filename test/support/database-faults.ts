/** How a request to the database goes wrong. */
export const DATABASE_FAULTS = {
  /** Nothing reaches it. */
  refused: async (): Promise<Response> => {
    throw new TypeError('fetch failed');
  },
  /** It does what it was asked, and the answer is lost. */
  lost: async (request: Request, send: typeof fetch): Promise<Response> => {
    await (await send(request)).arrayBuffer();
    throw new TypeError('terminated');
  },
  /** A proxy in front of it has nobody to ask. */
  'bad gateway': async () => new Response('Bad Gateway', { status: 502 }),
  /** Its disk fails at the second statement, or at the only one. */
  'second statement': failSecondStatement,
};
export type DatabaseFault = keyof typeof DATABASE_FAULTS;

interface Statement {
  sql?: string | null;
  sql_id?: number | null;
}
interface PipelineEntry {
  type: string;
  stmt?: Statement;
  batch?: { steps: { stmt: Statement }[] };
}

const BROKEN = 'INSERT INTO there_is_no_such_table VALUES (1)';
/** What a server says of a fault of its own, where this one says that our statement is wrong. */
const DISK_FAULT = { message: 'disk I/O error', code: 'SQLITE_IOERR' };

/** Breaks the statement in the request itself, so that the database rolls back as it would, and says in its answer that the disk did it. */
async function failSecondStatement(request: Request, send: typeof fetch): Promise<Response> {
  const body = (await request.json()) as { requests: PipelineEntry[] };
  const statements = body.requests.flatMap(({ stmt, batch }) => (stmt ? [stmt] : (batch?.steps.map((step) => step.stmt) ?? [])));
  // A batch begins with BEGIN.
  const isBatch = body.requests.some(({ type }) => type === 'batch');
  const victim = statements[isBatch ? Math.min(2, statements.length - 1) : 0];
  if (victim !== undefined) Object.assign(victim, { sql: BROKEN, sql_id: undefined, args: [] });
  const response = await send(request.url, { method: 'POST', headers: request.headers, body: JSON.stringify(body) });
  const text = await response.text();
  const answer = text.replaceAll(/\{"message":"[^"]*there_is_no_such_table[^"]*","code":"[^"]*"\}/g, JSON.stringify(DISK_FAULT));
  return new Response(answer, { status: response.status, headers: { 'content-type': 'application/json' } });
}

export interface FaultyDatabase {
  /** Stands between the gateway and its database. */
  fetch(request: Request, send: typeof fetch): Promise<Response>;
  /** Lets the nth request from now go wrong, counted from 1. */
  arm(nth: number, fault: DatabaseFault): void;
  /** Requests since it was armed. */
  count(): number;
  /** Lets every request wait for so long. */
  slow(delayMs: number): void;
}

export function createFaultyDatabase(): FaultyDatabase {
  let asked = 0;
  let armed: { nth: number; fault: DatabaseFault } | undefined;
  let delayMs = 0;
  return {
    async fetch(request, send) {
      asked += 1;
      const mine = asked;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      return armed?.nth === mine ? DATABASE_FAULTS[armed.fault](request, send) : send(request);
    },
    arm(nth, fault) {
      asked = 0;
      armed = { nth, fault };
    },
    count: () => asked,
    slow(ms) {
      delayMs = ms;
    },
  };
}
