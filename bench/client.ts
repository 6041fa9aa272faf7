import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { BenchRequest } from './requests.ts';
import { readStamps } from './upstream/scenario.ts';

export interface Target {
  /** Where the paths of the requests begin. */
  origin: string;
  apiKey: string;
}

export interface Measurement {
  /** From the call to the first byte of the reply's body. */
  firstByteMs: number;
  totalMs: number;
  /** From the moment that the upstream wrote a stamped chunk to its arrival. */
  lagsMs: number[];
  sha256: string;
}

export interface Client {
  /** Sends one request over a connection that is kept. Rejects when the reply is not a success. */
  send(target: Target, request: BenchRequest): Promise<Measurement>;
  close(): void;
}

/** The lag of each stamp on its first arrival: some formats repeat the whole text when it is complete. */
function lagsOf(chunks: readonly Buffer[], arrivals: readonly bigint[]): number[] {
  const lags = new Map<bigint, number>();
  for (const [position, chunk] of chunks.entries()) {
    for (const writtenAt of readStamps(chunk.toString('latin1'))) {
      if (!lags.has(writtenAt)) lags.set(writtenAt, Number(arrivals[position]! - writtenAt) / 1e6);
    }
  }
  return [...lags.values()];
}

/** A client that does little, so that little of what is measured is its own. */
export function createClient(): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: ({ origin, apiKey }, { path, body }) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': body.length };
        const start = performance.now();
        const url = `${origin}${path}`;
        const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          const arrivals: bigint[] = [];
          let firstByteMs = 0;
          response.on('data', (chunk: Buffer) => {
            arrivals.push(process.hrtime.bigint());
            if (chunks.length === 0) firstByteMs = performance.now() - start;
            chunks.push(chunk);
          });
          response.on('end', () => {
            const totalMs = performance.now() - start;
            const reply = Buffer.concat(chunks);
            if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}: ${reply}`));
            resolve({ firstByteMs, totalMs, lagsMs: lagsOf(chunks, arrivals), sha256: createHash('sha256').update(reply).digest('hex') });
          });
          response.on('error', reject);
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
