import { createScriptedModel } from '../../../dev/scripted-model.ts';
import type { JsonObject } from '../../../src/json.ts';

const app = createScriptedModel({ now: () => 1_700_000_000_000 });

export interface Answer {
  status: number;
  body: JsonObject;
}

/** Sends a body to the scripted model, which remembers what it has stored. */
export async function ask(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await app.request(path, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

/** The text of a streamed answer. */
export async function askForText(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ type: string | null; text: string }> {
  const response = await app.request(path, { method: 'POST', body: JSON.stringify(body), headers });
  return { type: response.headers.get('content-type'), text: await response.text() };
}

/** The events of a stream whose events are named like their types. */
export function readEvents(text: string): JsonObject[] {
  return text.split('\n\n').flatMap((block) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    if (name === undefined || data === undefined) return [];
    const event = JSON.parse(data) as JsonObject;
    if (event.type !== name) throw new Error(`an event named ${name} says that it is ${event.type}`);
    return [event];
  });
}
