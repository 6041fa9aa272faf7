import { afterAll, beforeAll, expect, it } from 'vitest';
import { objectsOf } from '../../src/json.ts';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { chatChunk, chatReply } from '../support/openai-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1` });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const headers = () => ({ authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' });
const recorded = async (session: string): Promise<{ status: string; skillName: string }[]> => {
  const response = await fetch(`${stack.url}/api/skills/executions?limit=200`, { headers: headers() });
  const { data } = (await response.json()) as { data: { sessionId: string; status: string; skillName: string }[] };
  return data.filter((execution) => execution.sessionId === session);
};
const call = (index: number, name: string, input: object) =>
  `data: ${JSON.stringify(chatChunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }] }))}\n\n`;

it('a read-only call runs while the reply still streams, a writing one waits for its end', async () => {
  const release = Promise.withResolvers<void>();
  upstream.play(
    async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(call(0, 'file_write_v1_0_0', { path: 'early.txt', content: 'x' }));
      response.write(call(1, 'file_read_v1_0_0', { path: 'nothing.txt' }));
      response.write(call(2, 'file_read_v1_0_0', { path: 'early.txt' }));
      await release.promise;
      response.end(`data: ${JSON.stringify(chatChunk({}, 'tool_calls'))}\n\ndata: [DONE]\n\n`);
    },
    chatReply({ text: 'done' }),
  );
  const reply = fetch(`${stack.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers(), 'x-omniroute-session': 'early' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] }),
  });
  await expect.poll(() => recorded('early'), { timeout: 10_000 }).toMatchObject([{ skillName: 'file_read', status: 'error' }]);
  release.resolve();
  expect(await (await reply).text()).toContain('done');
  expect((await recorded('early')).map(({ skillName }) => skillName).sort()).toEqual(['file_read', 'file_read', 'file_write']);
  const ids = objectsOf(upstream.requests[1]?.body.messages).flatMap((message) => message.tool_call_id ?? []);
  expect(ids).toEqual(['call_0', 'call_1', 'call_2']);
  // The read behind the write of the same file waits for it.
  expect(objectsOf(upstream.requests[1]?.body.messages).at(-1)?.content).toContain('"content":"x"');
});
