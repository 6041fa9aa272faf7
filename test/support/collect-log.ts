import { createLogger, type Logger } from '../../src/logger.ts';

/** A real logger whose lines end up, parsed, in `entries`. */
export function collectLog(): { log: Logger; entries: Record<string, unknown>[] } {
  const entries: Record<string, unknown>[] = [];
  return { log: createLogger((line) => entries.push(JSON.parse(line) as Record<string, unknown>)), entries };
}
