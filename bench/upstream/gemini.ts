import { ANSWER, modelOf, SCENARIOS } from './scenario.ts';
import { createReplies, type UpstreamFormat } from './upstream-format.ts';

const PROMPT_USAGE = { promptTokenCount: 1_000, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1_000 }] };
const USAGE = { ...PROMPT_USAGE, candidatesTokenCount: 100, totalTokenCount: 1_100 };

const reply = (text: string, candidate: object, usageMetadata: object) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, ...candidate, index: 0 }],
  usageMetadata,
  modelVersion: 'bench',
  responseId: 'bench',
});

/** Google's servers end the lines of their events as HTTP does. */
const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

const replies = createReplies({
  plain: reply(ANSWER, { finishReason: 'STOP' }, USAGE),
  opening: event(reply('So: ', {}, PROMPT_USAGE)),
  chunk: (text) => event(reply(text, {}, PROMPT_USAGE)),
  ending: () => event(reply('', { finishReason: 'STOP' }, USAGE)),
});

/** https://ai.google.dev/api/generate-content */
export const gemini: UpstreamFormat = {
  path: '/v1beta/models/',
  scenarioOf: (path) => SCENARIOS.find((scenario) => path.includes(`/${modelOf(scenario)}:`)),
  repliesTo: () => replies,
};
