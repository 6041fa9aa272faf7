import { type JsonObject, objectsOf } from '../../src/json.ts';
import { firstFault } from './rules.ts';

export const messagesOf = ({ messages }: JsonObject): JsonObject[] => objectsOf(messages);

/** The blocks of a message; content that is text counts as one block. */
export const blocksOf = ({ content }: JsonObject): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);

export const blocksOfType = (message: JsonObject, type: string): JsonObject[] => blocksOf(message).filter((block) => block.type === type);

/** Where the user last spoke, and did not only hand over results. */
export const lastUserMessage = (messages: readonly JsonObject[]): number =>
  messages.findLastIndex((message) => message.role === 'user' && blocksOf(message).some(({ type }) => type !== 'tool_result'));

/** The first fault in the blocks of all messages. */
export const firstBlockFault = (
  request: JsonObject,
  faultOf: (block: JsonObject, path: string) => string | undefined,
): string | undefined =>
  firstFault(messagesOf(request), (message, at) =>
    firstFault(blocksOf(message), (block, index) => faultOf(block, `messages.${at}.content.${index}`)),
  );
