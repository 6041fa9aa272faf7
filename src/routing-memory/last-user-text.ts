import type { WireFormat } from '../env.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';

/** The text of a message's content: a string, or the texts of its parts. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/** The texts of what the user said, in order. */
function userTexts(format: WireFormat, body: JsonObject): string[] {
  const said = (messages: JsonValue | undefined) => objectsOf(messages).filter(({ role }) => role === 'user');
  switch (format) {
    case 'openai':
    case 'anthropic':
      return said(body.messages).map(({ content }) => textOf(content));
    case 'openai-responses':
      return typeof body.input === 'string' ? [body.input] : said(body.input).map(({ content }) => textOf(content));
    case 'gemini':
      // One content may stand for a list, and its role may be left out.
      return objectsOf(isJsonObject(body.contents) ? [body.contents] : body.contents)
        .filter(({ role }) => role === 'user' || role === undefined)
        .map(({ parts }) => textOf(isJsonObject(parts) ? [parts] : parts));
  }
}

/** The last text that the user sent; results of tools are none. Empty when there is no text. */
export const lastUserText = (format: WireFormat, body: JsonObject): string =>
  userTexts(format, body).findLast((text) => text.trim() !== '') ?? '';
