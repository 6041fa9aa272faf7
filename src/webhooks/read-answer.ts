import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../json.ts';
import { readBytes } from '../net/read-bytes.ts';
import { SkillError } from '../skills/define.ts';

/** Answers by which an endpoint says what is wrong with the input; of all others the model learns the number alone. */
const INPUT_FAULTS = [400, 404, 409, 422];

interface ReadOptions {
  maxBytes: number;
  signal: AbortSignal;
}

/** The JSON of a body, or undefined when it is none. Throws a SkillError past `maxBytes`. */
async function readJson(response: Response, { maxBytes, signal }: ReadOptions): Promise<JsonValue | undefined> {
  const { bytes, truncated } = await readBytes(response, { maxBytes, signal }).catch(() => {
    signal.throwIfAborted();
    throw new SkillError("The webhook's answer broke off", { transient: true });
  });
  if (truncated) throw new SkillError(`The webhook's answer exceeds the ${maxBytes} byte limit`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The `error` text of a body that says what is wrong with the input. */
async function readFault(response: Response, options: ReadOptions): Promise<string | undefined> {
  if (!INPUT_FAULTS.includes(response.status)) {
    await response.body?.cancel();
    return undefined;
  }
  const body = await readJson(response, options);
  return isJsonObject(body) && typeof body.error === 'string' && body.error.trim() !== '' ? body.error.trim() : undefined;
}

/**
 * What an endpoint answered. Throws a SkillError unless it is a JSON object under a status of 200 to 299; it is transient for 429 and 5xx.
 * The message tells the status, and for 400, 404, 409 and 422 the `error` text of the body, so that the model can do better.
 */
export async function readAnswer(response: Response, options: ReadOptions): Promise<JsonObject> {
  const { status } = response;
  if (!response.ok) {
    const fault = await readFault(response, options);
    const transient = status === 429 || status >= 500;
    throw new SkillError(fault ?? `The webhook answered with status ${status}`, { transient });
  }
  const answer = await readJson(response, options);
  if (answer === undefined) throw new SkillError('The webhook did not answer with JSON');
  if (!isJsonObject(answer)) throw new SkillError('The webhook did not answer with a JSON object');
  if (isDeeperThan(answer, MAX_JSON_DEPTH)) throw new SkillError(`The webhook's answer is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return answer;
}
