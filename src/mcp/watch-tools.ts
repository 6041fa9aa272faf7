import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { offeredSkills } from './offered-tools.ts';

const LOOK_MS = 2_000;

/**
 * Calls `onChange` whenever the tools that an owner is offered have changed since the last look, which is at the registry of this isolate: its
 * own writes show at once there, those of others within 60 s. Returns what ends it.
 */
export function watchTools(services: Services, apiKeyId: string, waitUntil: WaitUntil, onChange: () => void): () => void {
  let known: string | undefined;
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const offered = await offeredSkills(services, apiKeyId, waitUntil);
      const found = offered.map(({ toolName, skill }) => `${toolName} ${skill.id} ${skill.updatedAt}`).join('\n');
      if (known !== undefined && found !== known) onChange();
      known = found;
    } catch {
      // The registry has logged why; the next look may find more.
    } finally {
      isLooking = false;
    }
  }

  void look();
  const timer = setInterval(() => void look(), LOOK_MS);
  return () => clearInterval(timer);
}
