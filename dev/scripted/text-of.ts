import { type JsonValue, objectsOf } from '../../src/json.ts';

/** Text of a content: a string, or the text parts of a list. */
export const textOf = (content: JsonValue | undefined): string =>
  typeof content === 'string'
    ? content
    : objectsOf(content)
        .map((part) => (typeof part.text === 'string' ? part.text : ''))
        .join('\n');
