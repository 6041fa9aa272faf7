import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { openUpstream, readJsonReply } from '../../src/gateway/upstream.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const open = (url: string, signal = new AbortController().signal) =>
  openUpstream(fetch, { url, headers: new Headers({ 'x-asked': 'yes' }), body: '{"n":1}', signal });

const ask = async (handler: RequestListener) => readJsonReply(await open(await listen(handler)), new AbortController().signal);

describe('openUpstream', () => {
  it('posts the body with the headers', async () => {
    const url = await listen((request, response) => {
      const { method, headers } = request;
      request.on('data', (body) => response.end(`${method} ${headers['x-asked']} ${body}`));
    });
    expect(await (await open(url)).text()).toBe('POST yes {"n":1}');
  });

  it('rejects when nobody listens', async () => {
    const url = await listen(() => {});
    for (const close of closing.splice(0)) close();
    await expect(open(url)).rejects.toMatchObject({ code: 'upstream_unreachable' });
  });

  it('hands over the reason when the client leaves', async () => {
    const client = new AbortController();
    const url = await listen(() => client.abort(new Error('gone')));
    await expect(open(url, client.signal)).rejects.toThrow('gone');
  });
});

describe.each([
  ['of known length', true],
  ['in chunks', false],
])('readJsonReply of a reply %s', (_, isLengthKnown) => {
  const send =
    (text: string, sent = text): RequestListener =>
    (_request, response) => {
      if (isLengthKnown) response.setHeader('content-length', Buffer.byteLength(text));
      response.write(sent, () => (sent === text ? response.end() : response.destroy()));
    };

  it('reads the object', async () => {
    expect(await ask(send('{"text":"grüße"}'))).toEqual({ text: 'grüße' });
  });

  it.each(['[1]', '"text"', 'null'])('refuses %s, which is no object', async (text) => {
    await expect(ask(send(text))).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('refuses what is not JSON', async () => {
    await expect(ask(send('<html>'))).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('says that a reply broke off', async () => {
    await expect(ask(send('{"text":"half"}', '{"text":'))).rejects.toMatchObject({ code: 'upstream_incomplete' });
  });

  it('ends with the reason when the client leaves in the middle', async () => {
    const client = new AbortController();
    const url = await listen((_request, response) => {
      if (isLengthKnown) response.setHeader('content-length', 100);
      response.write('{"text":');
    });
    const reading = readJsonReply(await open(url, client.signal), client.signal);
    client.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
  });
});

describe('readJsonReply', () => {
  it('refuses a reply of more than 32 MiB', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const flood: RequestListener = (_request, response) => {
      const push = (): unknown => response.write(chunk, (error) => error ?? push());
      push();
    };
    await expect(ask(flood)).rejects.toMatchObject({ code: 'upstream_invalid', message: expect.stringContaining('33554432 bytes') });
  });

  it('reads what was compressed, whatever its length is said to be', async () => {
    const body = gzipSync(JSON.stringify({ text: 'x'.repeat(10_000) }));
    const compressed: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    };
    expect(await ask(compressed)).toEqual({ text: 'x'.repeat(10_000) });
  });

  it('rejects with the refusal when the status is an error', async () => {
    await expect(ask((_request, response) => response.writeHead(429).end('{}'))).rejects.toMatchObject({ response: { status: 429 } });
  });
});
