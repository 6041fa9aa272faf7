import { request } from 'node:http';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { RUN_LABEL, SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { socketPath } from './docker.ts';

/** A container of a run that has been started. */
export interface Start {
  runId: string;
  hostId: string;
  image: string;
  /** Milliseconds since 1970. */
  at: number;
  hasEnded: boolean;
}

const containerEvent = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
});

/** Follows the containers of some sandbox-hosts through Docker's events, from now on. Docker itself remembers only the last few. */
export async function watchContainers(hostIds: readonly string[]): Promise<{ starts: Start[]; close(): void }> {
  const starts = new Map<string, Start>();
  const filters = JSON.stringify({ type: ['container'], event: ['start', 'die'], label: [SANDBOX_LABEL] });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  const asking = request({ socketPath, path: `/events?filters=${encodeURIComponent(filters)}` }, (response) => {
    resolve();
    response.on('error', () => undefined);
    createInterface({ input: response })
      .on('line', (line) => {
        const { Action, Actor } = containerEvent.parse(JSON.parse(line));
        const { [SANDBOX_LABEL]: hostId = '', [RUN_LABEL]: runId = '', image = '' } = Actor.Attributes;
        if (!hostIds.includes(hostId)) return;
        const known = starts.get(Actor.ID);
        if (Action === 'die' && known) known.hasEnded = true;
        if (Action === 'start') starts.set(Actor.ID, { runId, hostId, image, at: Date.now(), hasEnded: false });
      })
      .on('error', () => undefined);
  });
  asking.on('error', reject).end();
  await listening;
  return {
    get starts() {
      return [...starts.values()];
    },
    close: () => void asking.destroy(),
  };
}

/** The address at which containers with network access reach this machine. */
export async function bridgeAddress(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ socketPath, path: '/networks/bridge' }, async (response) => {
    const text = (await response.setEncoding('utf8').toArray()).join('');
    const { IPAM } = z.object({ IPAM: z.object({ Config: z.array(z.object({ Gateway: z.string() })) }) }).parse(JSON.parse(text));
    resolve(IPAM.Config[0]?.Gateway ?? '');
  })
    .on('error', reject)
    .end();
  return promise;
}
