// The model provider of the benchmark, in a process of its own: sends { port } to its parent, and ends with it.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { openAiChat } from './upstream/openai-chat.ts';
import { BURST_AFTER_MS, PACE_MS, PACED_CHUNKS, stamp, type UpstreamFormat } from './upstream/scenario.ts';

const FORMATS: readonly UpstreamFormat[] = [openAiChat];

const EVENT_STREAM = { 'content-type': 'text/event-stream' };

function sendJson(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

async function sendPaced(response: ServerResponse, format: UpstreamFormat): Promise<void> {
  response.writeHead(200, EVENT_STREAM);
  for (let count = 0; count < PACED_CHUNKS; count++) {
    response.write(format.pacedChunk(stamp()));
    await wait(PACE_MS);
  }
  response.end(format.streamEnd);
}

async function sendBurst(response: ServerResponse, format: UpstreamFormat): Promise<void> {
  response.writeHead(200, EVENT_STREAM);
  response.write(format.opening);
  await wait(BURST_AFTER_MS);
  for (const chunk of format.burst) response.write(chunk);
  response.end();
}

function answer(format: UpstreamFormat, request: Buffer, response: ServerResponse): void {
  const scenario = format.scenarioOf(request);
  switch (scenario) {
    case 'plain':
      sendJson(response, format.plain);
      break;
    case 'burst':
      void sendBurst(response, format);
      break;
    case 'paced':
      void sendPaced(response, format);
      break;
    case 'calls-1':
    case 'calls-3':
      sendJson(response, format.hasResults(request) ? format.plain : format.calls(scenario === 'calls-1' ? 1 : 3));
      break;
    case undefined:
      response.writeHead(400).end('No such scenario');
  }
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const format = FORMATS.find(({ path }) => path === request.url);
  if (format === undefined) {
    response.writeHead(404).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(format, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), response));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));
