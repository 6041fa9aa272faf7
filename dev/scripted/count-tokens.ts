import type { JsonValue } from '../../src/json.ts';
import type { Reply } from './script.ts';

/** About four characters to a token, so that the numbers are plausible and always the same. */
export const countTokens = (value: JsonValue): number => Math.ceil(JSON.stringify(value).length / 4);

/** The tokens of what the model says and calls, without its thoughts. */
export const countReplyTokens = ({ text, calls }: Reply): number =>
  countTokens(text) + calls.reduce((sum, call) => sum + countTokens(`${call.name}${call.arguments}`), 0);
