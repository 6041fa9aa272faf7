import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readText } from '../../src/net/read-text.ts';

const signal = new AbortController().signal;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A response whose body comes in these pieces, and a record of what was asked of it. */
function respond(chunks: readonly Uint8Array[], contentType?: string) {
  const state = { pulled: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[state.pulled++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel() {
        state.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers: contentType === undefined ? {} : { 'content-type': contentType } }), state };
}

const read = (chunks: readonly Uint8Array[], contentType: string | undefined, maxBytes = 1_000) =>
  readText(respond(chunks, contentType).response, { maxBytes, signal });

describe('readText', () => {
  it.each([
    ...[
      'text/plain',
      'text/html; charset=utf-8',
      'TEXT/CSV',
      'application/json',
      'application/problem+json',
      'application/xml',
      'image/svg+xml',
    ],
    ...[
      'application/javascript',
      'application/x-ndjson',
      'application/yaml',
      'application/x-www-form-urlencoded',
      'text/event-stream',
      undefined,
    ],
  ])('reads %s as text', async (contentType) => {
    expect(await read([bytesOf('{"a":'), bytesOf('"ä"}')], contentType)).toEqual({
      body: '{"a":"ä"}',
      bodyEncoding: 'utf8',
      truncated: false,
    });
  });

  it.each(['application/octet-stream', 'image/png', 'application/pdf', 'application/zip', 'application/vnd.ms-excel'])(
    'gives %s as base64',
    async (contentType) => {
      expect(await read([bytesOf('abc')], contentType)).toEqual({ body: 'YWJj', bodyEncoding: 'base64', truncated: false });
    },
  );

  it.each(['text/plain', 'application/json', undefined])(
    'gives bytes that are not UTF-8 as base64 although the type is %s',
    async (contentType) => {
      expect(await read([new Uint8Array([0x61, 0xff, 0xfe])], contentType)).toEqual({
        body: 'Yf/+',
        bodyEncoding: 'base64',
        truncated: false,
      });
    },
  );

  it('decodes the charset that the type names', async () => {
    const latin1 = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
    expect(await read([latin1], 'text/html; charset="ISO-8859-1"')).toEqual({ body: 'café', bodyEncoding: 'utf8', truncated: false });
    expect(await read([latin1], 'text/html; charset=klingon')).toEqual({ body: 'Y2Fm6Q==', bodyEncoding: 'base64', truncated: false });
  });

  it('leaves an incomplete character at the end of a whole body as what it is: not text', async () => {
    expect((await read([bytesOf('ä').subarray(0, 1)], 'text/plain')).bodyEncoding).toBe('base64');
  });

  it.each([
    [0, ''],
    [1, 'a'],
    [2, 'a'],
    [3, 'aä'],
    [4, 'aä'],
    [6, 'aä'],
    [7, 'aä😀'],
  ])('cuts at %i bytes without half a character', async (maxBytes, body) => {
    expect(await read([bytesOf('aä😀!')], 'text/plain', maxBytes)).toEqual({ body, bodyEncoding: 'utf8', truncated: true });
  });

  it('does not call a body of just the limit truncated', async () => {
    expect(await read([bytesOf('abc'), bytesOf('def')], 'text/plain', 6)).toEqual({
      body: 'abcdef',
      bodyEncoding: 'utf8',
      truncated: false,
    });
  });

  it('reads no further than the limit and lets the rest go', async () => {
    const { response, state } = respond(
      Array.from({ length: 1_000 }, () => new Uint8Array(1_000)),
      'image/png',
    );
    const { truncated } = await readText(response, { maxBytes: 2_500, signal });
    expect(truncated).toBe(true);
    expect(state).toEqual({ pulled: 3, cancelled: true });
  });

  it('reads a response without a body', async () => {
    expect(await readText(new Response(null, { status: 204 }), { maxBytes: 10, signal })).toEqual({
      body: '',
      bodyEncoding: 'utf8',
      truncated: false,
    });
  });

  it('rejects with the reason of a signal that fires in the middle of the body', async () => {
    const controller = new AbortController();
    const stalled = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(bytesOf('a')) });
    const reading = readText(new Response(stalled), { maxBytes: 10, signal: controller.signal });
    controller.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
  });

  it('gives the same text however the body is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(20)), async (text, cuts) => {
        // A byte order mark at the start is a mark of the encoding and no part of the text.
        fc.pre(!text.startsWith('\ufeff'));
        const bytes = bytesOf(text);
        const borders = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
        const { body } = await read(chunks, 'text/plain', 100_000);
        expect(body).toBe(text);
      }),
    );
  });
});
