import type { Environment } from './settings.ts';

const QUESTION = 'What are the first 10 primes? Compute them with a program.';

interface ExampleRequest {
  path: string;
  body: object;
}

const chat = (model: string): ExampleRequest => ({
  path: '/v1/chat/completions',
  body: { model, messages: [{ role: 'user', content: QUESTION }] },
});

/** A request that makes the first configured provider use a skill; undefined when only the user knows the names of its models. */
export function exampleRequest(env: Environment, isScripted: boolean): ExampleRequest | undefined {
  if (isScripted) return chat('scripted-demo');
  if (env.OPENAI_API_KEY) return chat('gpt-5-mini');
  if (env.ANTHROPIC_API_KEY) {
    return {
      path: '/v1/messages',
      body: { model: 'claude-sonnet-4-5', max_tokens: 1024, messages: [{ role: 'user', content: QUESTION }] },
    };
  }
  if (env.GEMINI_API_KEY) {
    return { path: '/v1beta/models/gemini-2.5-flash:generateContent', body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] } };
  }
  return undefined;
}

/** The request as a line for the shell. */
export const curlLine = (url: string, apiKey: string, { path, body }: ExampleRequest): string =>
  `curl -sN ${url}${path} -H 'authorization: Bearer ${apiKey}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
