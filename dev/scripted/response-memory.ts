import type { JsonObject } from '../../src/json.ts';
import { Refusal } from './refusal.ts';

/** The responses that were stored, the newest thousand of them. */
export interface ResponseMemory {
  /** Keeps all that a response and those before it have read and written. */
  store(id: string, conversation: readonly JsonObject[]): void;
  /** What was kept under the id of a response; nothing without an id. Throws a Refusal for an id that is not known. */
  recall(previousResponseId: unknown): readonly JsonObject[];
  /** A stored item by its own id. */
  item(id: unknown): JsonObject | undefined;
}

const MAX_RESPONSES = 1_000;

export function createResponseMemory(): ResponseMemory {
  const conversations = new Map<unknown, readonly JsonObject[]>();
  return {
    store(id, conversation) {
      conversations.set(id, conversation);
      const [oldest] = conversations.keys();
      if (conversations.size > MAX_RESPONSES) conversations.delete(oldest);
    },
    recall(id) {
      if (id === undefined || id === null) return [];
      const conversation = conversations.get(id);
      if (conversation !== undefined) return conversation;
      throw new Refusal(400, `Previous response with id '${id}' not found.`, 'previous_response_not_found');
    },
    item: (id) => [...conversations.values()].flat().find((item) => item.id === id),
  };
}
