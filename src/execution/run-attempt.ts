import { isJsonObject, type JsonObject } from '../json.ts';
import { SkillError } from '../skills/define.ts';
import { scrubMessage } from './scrub-message.ts';

/** Largest output that is kept, in bytes of JSON text; it holds a workspace file of the default limit as base64 with room to spare. */
export const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

const CLIENT_LEFT = 'Cancelled: the client left';
const OUT_OF_TIME = "Cancelled: the request's time ran out";

/** Why a run was cancelled: the signal of a request fires when its client leaves, or as a timeout of the whole request. */
export const cancelReason = ({ reason }: AbortSignal): string =>
  reason instanceof DOMException && reason.name === 'TimeoutError' ? OUT_OF_TIME : CLIENT_LEFT;

/** Stands for a message that says nothing, or nothing that may be told. */
const FAILED = 'The skill failed';
export const FAILED_UNEXPECTEDLY = 'The skill failed unexpectedly';

export type AttemptResult =
  | { status: 'success'; output: JsonObject }
  | { status: 'error'; errorMessage: string; failure: 'before-run' | 'answered' | 'transient' | 'unexpected' | 'cancelled' }
  | { status: 'timeout'; errorMessage: string };

interface AttemptOptions {
  timeoutMs: number;
  /** Fires when the client leaves or the time of its request is over. */
  clientSignal: AbortSignal;
  /** Is told what is not a SkillError: nobody else gets to see it. */
  onUnexpected(error: unknown): void;
}

/** The output as JSON will carry it: without what JSON cannot hold. */
function normaliseOutput(output: unknown): JsonObject {
  const text = isJsonObject(output) ? JSON.stringify(output) : undefined;
  const normalised: unknown = text === undefined ? undefined : JSON.parse(text);
  if (text === undefined || !isJsonObject(normalised)) throw new SkillError("The skill's output is not a JSON object");
  // A character takes at least one byte, so the encoder runs only for texts that may fit.
  if (text.length > MAX_OUTPUT_BYTES || new TextEncoder().encode(text).length > MAX_OUTPUT_BYTES)
    throw new SkillError(`The skill's output exceeds the ${MAX_OUTPUT_BYTES} byte limit`);
  return normalised;
}

/**
 * Calls a skill once. Answers at the deadline or when the client leaves, whatever the skill does: one that ignores its signal is left
 * behind. Never rejects.
 */
export async function runAttempt(run: (signal: AbortSignal) => Promise<unknown>, options: AttemptOptions): Promise<AttemptResult> {
  const { timeoutMs, clientSignal, onUnexpected } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  // With the race lost nobody listens to it any more.
  aborted.catch(() => {});
  const timer = setTimeout(() => controller.abort(new DOMException(`Timed out after ${timeoutMs} ms`, 'TimeoutError')), timeoutMs);
  const clientLeft = new DOMException('The request has ended', 'AbortError');
  const leave = () => controller.abort(clientLeft);
  clientSignal.addEventListener('abort', leave, { once: true });
  if (clientSignal.aborted) leave();
  try {
    signal.throwIfAborted();
    const output = await Promise.race([run(signal), aborted]);
    return { status: 'success', output: normaliseOutput(output) };
  } catch (error) {
    if (signal.reason === clientLeft) return { status: 'error', errorMessage: cancelReason(clientSignal), failure: 'cancelled' };
    if (signal.aborted) return { status: 'timeout', errorMessage: `Timed out after ${timeoutMs} ms` };
    if (!(error instanceof SkillError)) {
      onUnexpected(error);
      return { status: 'error', errorMessage: FAILED_UNEXPECTEDLY, failure: 'unexpected' };
    }
    const failure = error.beforeRun ? 'before-run' : error.transient ? 'transient' : 'answered';
    return { status: 'error', errorMessage: scrubMessage(error.message) || FAILED, failure };
  } finally {
    clearTimeout(timer);
    clientSignal.removeEventListener('abort', leave);
  }
}
