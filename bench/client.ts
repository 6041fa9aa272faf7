import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { readStamps } from './upstream/scenario.ts';

export interface Target {
  /** The endpoint. */
  url: string;
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
  send(target: Target, body: Buffer): Promise<Measurement>;
  close(): void;
}

const lagsOf = (chunk: Buffer, arrivedAt: bigint): number[] =>
  readStamps(chunk.toString('latin1')).map((writtenAt) => Number(arrivedAt - writtenAt) / 1e6);

/** A client that does little, so that little of what is measured is its own. */
export function createClient(): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: ({ url, apiKey }, body) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': body.length };
        const start = performance.now();
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
            const lagsMs = chunks.flatMap((chunk, position) => lagsOf(chunk, arrivals[position]!));
            resolve({ firstByteMs, totalMs, lagsMs, sha256: createHash('sha256').update(reply).digest('hex') });
          });
          response.on('error', reject);
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
