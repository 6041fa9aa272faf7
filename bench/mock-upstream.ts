// The model provider of the benchmark, in a process of its own: sends { port } to its parent, and ends with it.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { anthropic } from './upstream/anthropic.ts';
import { gemini } from './upstream/gemini.ts';
import { openAiChat } from './upstream/openai-chat.ts';
import { openAiResponses } from './upstream/openai-responses.ts';
import { BURST_AFTER_MS, PACE_MS, PACED_CHUNKS, stamp } from './upstream/scenario.ts';
import type { Replies, UpstreamFormat } from './upstream/upstream-format.ts';

const FORMATS: readonly UpstreamFormat[] = [openAiChat, openAiResponses, anthropic, gemini];

const EVENT_STREAM = { 'content-type': 'text/event-stream' };

function sendJson(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

async function sendPaced(response: ServerResponse, { opening, chunk, ending }: Replies): Promise<void> {
  response.writeHead(200, EVENT_STREAM);
  response.write(opening);
  const texts: string[] = [];
  for (let number = 0; number < PACED_CHUNKS; number++) {
    await wait(PACE_MS);
    const text = stamp();
    response.write(chunk(text, number));
    texts.push(text);
  }
  response.end(ending(texts));
}

async function sendBurst(response: ServerResponse, { opening, burst }: Replies): Promise<void> {
  response.writeHead(200, EVENT_STREAM);
  response.write(opening);
  await wait(BURST_AFTER_MS);
  for (const chunk of burst) response.write(chunk);
  response.end();
}

function answer(format: UpstreamFormat, path: string, request: Buffer, response: ServerResponse): void {
  const scenario = format.scenarioOf(path, request);
  if (scenario === undefined) {
    response.writeHead(400).end('No such scenario');
    return;
  }
  const replies = format.repliesTo(request);
  switch (scenario) {
    case 'plain':
      sendJson(response, replies.plain);
      break;
    case 'burst':
      void sendBurst(response, replies);
      break;
    case 'paced':
      void sendPaced(response, replies);
      break;
    case 'calls-1':
    case 'calls-3':
      if (format.calls === undefined) response.writeHead(400).end('No calls in this format');
      else sendJson(response, format.calls.hasResults(request) ? replies.plain : format.calls.reply(scenario === 'calls-1' ? 1 : 3));
      break;
  }
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const url = request.url ?? '';
  const format = FORMATS.find(({ path }) => url.startsWith(path));
  if (format === undefined) {
    response.writeHead(404).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(format, url, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), response));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));
