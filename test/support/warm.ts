import { vi } from 'vitest';
import type { SandboxHost } from '../../sandbox-host/create-host.ts';
import type { WarmCounts } from '../../sandbox-host/warm-stocks.ts';

/** Resolves when as many containers wait as are wanted. */
export const whenWarm = (host: SandboxHost): Promise<WarmCounts> =>
  vi.waitFor(
    async () => {
      const { warm } = (await (await host.app.request('/healthz')).json()) as { warm: WarmCounts };
      if (warm.making > 0 || warm.ready < warm.target) throw new Error(`${warm.ready} of ${warm.target} are ready`);
      return warm;
    },
    { timeout: 30_000, interval: 20 },
  );
