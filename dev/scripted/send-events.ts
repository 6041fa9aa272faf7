import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { JsonObject } from '../../src/json.ts';

/** Sends events that are named like their `type`. */
export const sendTypedEvents = (c: Context, events: readonly JsonObject[]): Response =>
  streamSSE(c, async (stream) => {
    for (const event of events) await stream.writeSSE({ event: String(event.type), data: JSON.stringify(event) });
  });
