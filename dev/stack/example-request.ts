import { z } from 'zod';
import { WIRE_FORMATS, type WireFormat } from '../../src/env.ts';
import type { Environment } from './settings.ts';

const QUESTION = 'What are the first 10 primes? Compute them with a program.';

interface ExampleRequest {
  path: string;
  body: object;
}

const MESSAGES = [{ role: 'user', content: QUESTION }];

/** Of a path, and of nothing that a shell takes for its own. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** The request in the shape of each format. */
const REQUESTS: Record<WireFormat, (model: string) => ExampleRequest> = {
  openai: (model) => ({ path: '/v1/chat/completions', body: { model, messages: MESSAGES } }),
  'openai-responses': (model) => ({ path: '/v1/responses', body: { model, input: QUESTION } }),
  anthropic: (model) => ({ path: '/v1/messages', body: { model, max_tokens: 1024, messages: MESSAGES } }),
  gemini: (model) => ({
    path: `/v1beta/models/${encodeName(model)}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] },
  }),
};

const listing = z.object({
  format: z.enum(WIRE_FORMATS),
  models: z.array(z.string().min(1)),
});

/** The first model that PROVIDERS lists in full. What is wrong with PROVIDERS the worker says. */
function listedModel(providers: string | undefined): { format: WireFormat; model: string } | undefined {
  let list: unknown;
  try {
    list = JSON.parse(providers ?? '[]');
  } catch {
    return undefined;
  }
  const listed = (Array.isArray(list) ? list : []).flatMap((provider) => {
    const { data } = listing.safeParse(provider);
    return data === undefined ? [] : data.models.map((model) => ({ format: data.format, model }));
  });
  return listed.find(({ model }) => !model.endsWith('*'));
}

/** A request that makes a configured provider use a skill; undefined when only the user knows the names of its models. */
export function exampleRequest(env: Environment, isScripted: boolean): ExampleRequest | undefined {
  if (isScripted) return REQUESTS.openai('scripted-demo');
  const listed = listedModel(env.PROVIDERS);
  if (listed !== undefined) return REQUESTS[listed.format](listed.model);
  if (env.OPENAI_API_KEY) return REQUESTS.openai('gpt-5-mini');
  if (env.ANTHROPIC_API_KEY) return REQUESTS.anthropic('claude-sonnet-4-5');
  if (env.GEMINI_API_KEY) return REQUESTS.gemini('gemini-2.5-flash');
  return undefined;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The request as a line for the shell. */
export const curlLine = (url: string, apiKey: string, { path, body }: ExampleRequest): string =>
  `curl -sN ${url}${path} -H 'authorization: Bearer ${apiKey}' -H 'content-type: application/json' -d ${quote(JSON.stringify(body))}`;
