import { isJsonObject, type JsonObject, type JsonValue } from '../src/json.ts';
import type { Connection } from './connection.ts';
import { CommandError, EXIT_CODE, type ExitCode, messageOf } from './exit-code.ts';
import { OutputClosed } from './terminal.ts';

const ANSWER_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 100 * 1024 * 1024;

export interface GatewayRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Those that are undefined are left out. */
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: JsonValue;
  headers?: Record<string, string>;
  /** For the whole answer. */
  timeoutMs?: number;
  /** Statuses that are no failures here, besides those of success. */
  alsoTakes?: readonly number[];
}

/** The REST interface of one gateway. Both reject with a CommandError that says what is wrong. */
export interface Gateway extends Connection {
  /** What `take` makes of the answer to a request that succeeds. */
  read<Result>(path: string, request: GatewayRequest, take: (response: Response) => Promise<Result>): Promise<Result>;
  /** The body of a success. */
  call(path: string, request?: GatewayRequest): Promise<JsonObject>;
}

/** A path whose parts may hold anything. */
export const pathTo = (base: string, ...parts: string[]): string => [base, ...parts.map(encodeURIComponent)].join('/');

const unreachable = (message: string, code = 'unreachable', hint?: string): CommandError =>
  new CommandError(EXIT_CODE.unreachable, message, { code, ...(hint !== undefined && { hint }) });

/** What Node's fetch says is only that it failed; why is in its cause, or in the causes of that. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return messageOf(cause.errors[0]);
  return messageOf(cause);
}

/** Reads a body up to a limit. */
export async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new CommandError(EXIT_CODE.failed, 'The answer is larger than 100 MiB: ask for less of it', { code: 'too_large' });
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join('') + decoder.decode();
}

/** The object that a text of JSON is; undefined when it is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const exitCodeFor = (status: number): ExitCode => (status === 401 || status === 403 ? EXIT_CODE.unauthorized : EXIT_CODE.failed);

function hintFor(code: string, token: string | undefined): string | undefined {
  if (code === 'unauthorized') {
    const right = 'the management token or an API key of this gateway';
    return token === undefined ? `Set OMNIROUTE_TOKEN to ${right}` : `OMNIROUTE_TOKEN, or --token, is not ${right}`;
  }
  return code === 'forbidden' ? 'Set OMNIROUTE_TOKEN to the management token, or to an API key that has the scope' : undefined;
}

/** The paths of `details` are what a person looks for first. */
function describeDetails(details: JsonValue | undefined): string {
  const faults = (Array.isArray(details) ? details : []).filter(isJsonObject);
  return faults.map(({ path, message }) => `\n  ${path === '' ? 'input' : path}: ${message}`).join('');
}

const CODE_OF_STATUS: Record<number, string> = { 401: 'unauthorized', 403: 'forbidden' };

/** How the gateway says no; what models are asked by says it in the shape of a provider, and not all of those have room for a code. */
function readRefusal(answer: JsonObject | undefined, status: number): { message: string; code: string; details?: JsonValue } | undefined {
  const { error, code, details } = answer ?? {};
  if (typeof error === 'string' && typeof code === 'string') return { message: error, code, ...(details !== undefined && { details }) };
  if (!isJsonObject(error) || typeof error.message !== 'string') return undefined;
  return { message: error.message, code: typeof error.code === 'string' ? error.code : (CODE_OF_STATUS[status] ?? 'refused') };
}

/** For an answer that no gateway gives. */
export function notAGateway(url: string, response: Response): CommandError {
  const type = response.headers.get('content-type') ?? 'without a content type';
  return unreachable(`What answers at ${url} is no OmniRoute Edge gateway (${response.status}, ${type})`, 'not_a_gateway');
}

export function createGateway({ url, token }: Connection, fetch: typeof globalThis.fetch, signal: AbortSignal): Gateway {
  /** Rejections of the connection, be it before the answer or within it. */
  function explain(error: unknown, timeout: AbortSignal): Error {
    if (error instanceof CommandError || error instanceof OutputClosed || signal.aborted) return error as Error;
    if (timeout.aborted) return unreachable(`${url} did not answer in time`, 'timed_out');
    return unreachable(
      `Cannot reach the gateway at ${url}: ${causeOf(error)}`,
      'unreachable',
      'Start it, or say where it is: --url or OMNIROUTE_URL',
    );
  }

  async function send(
    path: string,
    { method = 'GET', query = {}, body, headers = {} }: GatewayRequest,
    timeout: AbortSignal,
  ): Promise<Response> {
    const target = new URL(url + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, value);
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      // The token is for this gateway and nobody it may point to.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    return fetch(target, init);
  }

  async function failureOf(response: Response): Promise<CommandError> {
    const refusal = readRefusal(parseObject(await readBody(response)), response.status);
    if (refusal === undefined) return notAGateway(url, response);
    const { message, code, details } = refusal;
    const hint = hintFor(code, token);
    return new CommandError(exitCodeFor(response.status), message + describeDetails(details), {
      code,
      ...(details !== undefined && { details }),
      ...(hint !== undefined && { hint }),
    });
  }

  async function read<Result>(path: string, request: GatewayRequest, take: (response: Response) => Promise<Result>): Promise<Result> {
    const timeout = AbortSignal.timeout(request.timeoutMs ?? ANSWER_TIMEOUT_MS);
    try {
      const response = await send(path, request, timeout);
      if (!response.ok && !request.alsoTakes?.includes(response.status)) throw await failureOf(response);
      return await take(response);
    } catch (error) {
      throw explain(error, timeout);
    }
  }

  return {
    url,
    token,
    read,
    call: (path, request = {}) =>
      read(path, request, async (response) => {
        const answer = parseObject(await readBody(response));
        if (answer === undefined) throw notAGateway(url, response);
        return answer;
      }),
  };
}
