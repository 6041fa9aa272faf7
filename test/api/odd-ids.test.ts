import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

/** A value that cannot be made a text. */
const ODD: JsonObject = { toString: 1, valueOf: 1 };

let app: TestApp;
let reply: JsonObject;

beforeAll(async () => {
  app = await createTestApp({
    upstream: () => Response.json(reply),
    variables: { ANTHROPIC_API_KEY: 'sk-ant', ANTHROPIC_BASE_URL: 'https://anthropic.example' },
  });
});
afterAll(() => app.close());

const message = (content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const requests: [string, JsonObject][] = [
  [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: ODD, type: 'function', function: { name: ODD, arguments: ODD } }] },
        { role: 'tool', tool_call_id: ODD, content: ODD },
        { role: 'assistant', tool_calls: [{ id: 'call_1_omrpAAAAAAAAAAAAAAAAAAAAAA', type: 'function', function: { name: 'f' } }] },
      ],
    },
  ],
  [
    '/v1/messages',
    {
      max_tokens: 1,
      messages: [
        message([{ type: 'tool_use', id: ODD, name: ODD, input: ODD }]),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: ODD, content: ODD }] },
        message([{ type: 'tool_use', id: 'toolu_1_omrpAAAAAAAAAAAAAAAAAAAAAA', name: 'f', input: {} }]),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1_omrpAAAAAAAAAAAAAAAAAAAAAA' }] },
      ],
    },
  ],
  [
    '/v1/responses',
    {
      input: [
        { type: 'function_call', call_id: ODD, id: ODD, name: ODD, arguments: ODD },
        { type: 'function_call_output', call_id: ODD, output: ODD },
        { type: 'mcp_approval_response', approval_request_id: ODD, approve: ODD },
        { type: ODD, id: ODD },
        { type: 'function_call', call_id: 'call_1_omrpAAAAAAAAAAAAAAAAAAAAAA', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1_omrpAAAAAAAAAAAAAAAAAAAAAA', output: '' },
      ],
    },
  ],
];
const replies: Record<string, JsonObject> = {
  '/v1/chat/completions': {
    id: ODD,
    choices: [
      {
        index: 0,
        finish_reason: ODD,
        message: { role: ODD, content: ODD, tool_calls: [{ id: ODD, function: { name: 'f', arguments: ODD } }] },
      },
    ],
  },
  '/v1/messages': {
    id: ODD,
    stop_reason: ODD,
    content: [
      { type: 'tool_use', id: ODD, name: 'f', input: ODD },
      { type: ODD, text: ODD },
    ],
  },
  '/v1/responses': {
    id: ODD,
    status: ODD,
    tools: [{ type: 'function', name: ODD }],
    output: [
      { type: 'function_call', id: ODD, call_id: ODD, name: 'f', arguments: ODD },
      { type: ODD, id: ODD },
      { type: 'message', id: ODD },
    ],
  },
};

describe.each(requests)('values of a wrong kind over %s', (path, request) => {
  it('from a client are left for the provider to judge', async () => {
    reply = { choices: [{ message: {} }], content: [], output: [] };
    const { status } = await app.call(path, { as: app.key.key, json: { model: 'm', ...request } });
    expect(status).toBe(200);
  });

  it('from a provider reach the client', async () => {
    reply = replies[path] ?? {};
    const json: JsonObject = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }], input: 'hi' };
    const { status, body } = await app.call(path, { as: app.key.key, json });
    expect([status, body]).toMatchObject([200, {}]);
  });
});
