import {
  type Content,
  type FunctionCall,
  type FunctionDeclaration,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai';
import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';

export const MODEL = 'gemini-x';
export const weather: FunctionDeclaration = {
  name: 'get_weather',
  description: 'Weather of a city',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
export const withWeather = { tools: [{ functionDeclarations: [weather] }] };
export const withHeaders = (headers: Record<string, string>) => ({ httpOptions: { headers } });

export const ask = (said: string, config: GenerateContentParameters['config'] = {}): GenerateContentParameters => ({
  model: MODEL,
  contents: [{ role: 'user', parts: [{ text: said }] }],
  config,
});
export const user = (said: string): JsonObject => ({ role: 'user', parts: [{ text: said }] });

/** The SDK with its base URL changed; its own version of the API when none is given. */
export const openClient = (url: string, apiKey: string, apiVersion?: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey, ...(apiVersion && { apiVersion }), httpOptions: { baseUrl: url } });

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export interface Answer {
  parts: Part[];
  /** What is not thought. */
  text: string;
  calls: FunctionCall[];
  finishes: string[];
  last: GenerateContentResponse | undefined;
  chunks: GenerateContentResponse[];
}

/** The answer, either plain or in the chunks that the SDK reads. */
export async function generate(client: GoogleGenAI, streamed: boolean, params: GenerateContentParameters): Promise<Answer> {
  const chunks = streamed
    ? await collect(await client.models.generateContentStream(params))
    : [await client.models.generateContent(params)];
  const candidates = chunks.flatMap((each) => each.candidates ?? []);
  const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
  return {
    parts,
    text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
    calls: parts.flatMap((part) => part.functionCall ?? []),
    finishes: candidates.flatMap((candidate) => candidate.finishReason ?? []),
    last: chunks.at(-1),
    chunks,
  };
}

/** The next request of a client that has answered the calls of a reply. */
export const answered = (params: GenerateContentParameters, answer: Answer, output: string): GenerateContentParameters => ({
  ...params,
  contents: [
    ...(params.contents as Content[]),
    { role: 'model', parts: answer.parts },
    {
      role: 'user',
      parts: answer.calls.map(({ id, name }) => ({
        functionResponse: { ...(id !== undefined && { id }), ...(name !== undefined && { name }), response: { output } },
      })),
    },
  ],
});

export const resultsOf = (content: JsonObject | undefined): JsonObject[] =>
  objectsOf(content?.parts).flatMap((part) => (isJsonObject(part.functionResponse) ? [part.functionResponse] : []));

export const HELLO = JSON.stringify({ contents: [user('hi')] });

/** One request without the SDK. */
export const post = (url: string, body: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
