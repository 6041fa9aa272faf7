import { writeProse } from './prose.ts';
import { isStreamed, modelOf, type Scenario } from './upstream/scenario.ts';

/** The wire formats by the names that the report has for them. */
export const FORMATS = ['chat', 'responses', 'anthropic', 'gemini'] as const;
export type Format = (typeof FORMATS)[number];

export interface BenchRequest {
  /** Path and query of the endpoint. */
  path: string;
  body: Buffer;
}

interface Conversation {
  system: string;
  /** Of the user and the model in turns; the first and the last are the user's. */
  turns: string[];
}

const TURN_COUNT = 3;

const createConversation = (contextLength: number): Conversation => {
  const [system = '', ...turns] = Array.from({ length: 1 + TURN_COUNT }, (_, seed) => writeProse(contextLength / (1 + TURN_COUNT), seed));
  return { system, turns };
};

const roleOf = (turn: number): 'user' | 'assistant' => (turn % 2 === 0 ? 'user' : 'assistant');

/** Where each format's requests go and what they say. The model stands first, where the mock looks for it. */
const WRITERS: Record<Format, (scenario: Scenario, conversation: Conversation) => { path: string; body: object }> = {
  chat: (scenario, { system, turns }) => ({
    path: '/v1/chat/completions',
    body: {
      model: modelOf(scenario),
      ...(isStreamed(scenario) && { stream: true, stream_options: { include_usage: true } }),
      messages: [{ role: 'system', content: system }, ...turns.map((content, turn) => ({ role: roleOf(turn), content }))],
    },
  }),
  responses: (scenario, { system, turns }) => ({
    path: '/v1/responses',
    body: {
      model: modelOf(scenario),
      ...(isStreamed(scenario) && { stream: true }),
      instructions: system,
      input: turns.map((text, turn) => {
        const role = roleOf(turn);
        return { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
      }),
    },
  }),
  anthropic: (scenario, { system, turns }) => ({
    path: '/v1/messages',
    body: {
      model: modelOf(scenario),
      max_tokens: 1_024,
      ...(isStreamed(scenario) && { stream: true }),
      system,
      messages: turns.map((text, turn) => ({ role: roleOf(turn), content: [{ type: 'text', text }] })),
    },
  }),
  gemini: (scenario, { system, turns }) => ({
    path: `/v1beta/models/${modelOf(scenario)}:${isStreamed(scenario) ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      systemInstruction: { parts: [{ text: system }] },
      contents: turns.map((text, turn) => ({ role: roleOf(turn) === 'user' ? 'user' : 'model', parts: [{ text }] })),
    },
  }),
};

/** A request whose texts have so many characters together. */
export function writeRequest(format: Format, scenario: Scenario, contextLength: number): BenchRequest {
  const { path, body } = WRITERS[format](scenario, createConversation(contextLength));
  return { path, body: Buffer.from(JSON.stringify(body)) };
}
