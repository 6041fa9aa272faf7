import { type JsonObject, objectsOf } from '../../src/json.ts';
import type { TestStack } from './stack.ts';

export interface StackManagement {
  /** One call of the REST interface with the management token; the body of its answer. */
  call(method: string, path: string, body?: unknown): Promise<JsonObject>;
  /** Changes a skill for the time of some work. */
  withSkill(name: string, changes: JsonObject, work: () => Promise<void>): Promise<void>;
  /** A new key with the default scopes. */
  createKey(): Promise<string>;
  /** The executions of a session. */
  executionsOf(session: string): Promise<JsonObject[]>;
}

export function manageStack({ url, managementToken }: TestStack): StackManagement {
  async function call(method: string, path: string, body?: unknown): Promise<JsonObject> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${managementToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as JsonObject;
  }

  return {
    call,
    async withSkill(name, changes, work) {
      const skill = objectsOf((await call('GET', `/api/skills?q=${name}`)).data).find((found) => found.name === name);
      if (skill === undefined) throw new Error(`No skill ${name}`);
      const before = Object.fromEntries(Object.keys(changes).map((field) => [field, skill[field]]));
      await call('PUT', `/api/skills/${skill.id}`, changes);
      try {
        await work();
      } finally {
        await call('PUT', `/api/skills/${skill.id}`, before);
      }
    },
    createKey: async () => String((await call('POST', '/api/keys', { name: 'another' })).key),
    executionsOf: async (session) => {
      const { data } = await call('GET', '/api/skills/executions?limit=200');
      return objectsOf(data).filter((execution) => execution.sessionId === session);
    },
  };
}
