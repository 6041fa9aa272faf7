import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventStream } from '../../src/gateway/event-stream.ts';

const never = new AbortController().signal;

function bodyOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function read(chunks: Iterable<Uint8Array>): Promise<string[]> {
  const seen: string[] = [];
  await readEventStream(
    bodyOf(chunks),
    never,
    (data) => {
      seen.push(data);
      return data;
    },
    () => {},
  );
  return seen;
}

const SAMPLES: [string, string[]][] = [
  ['data: {"a":"é€😀"}\n\ndata: [DONE]\n\n', ['{"a":"é€😀"}', '[DONE]']],
  ['data: one\r\n\r\ndata: two\r\n\r\n', ['one', 'two']],
  [': comment\n\nevent: x\nid: 1\ndata: first line\ndata: second line\n\n', ['first line\nsecond line']],
  ['\uFEFFdata:no space\n\ndata: last without a blank line', ['no space', 'last without a blank line']],
];

describe('readEventStream', () => {
  it.each(SAMPLES)('reads the same events of %j wherever it is cut', async (text, expected) => {
    const bytes = new TextEncoder().encode(text);
    const cuts = fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(cuts, async (positions) => {
        const borders = [0, ...positions.sort((left, right) => left - right), bytes.length];
        const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
        expect(await read(chunks)).toEqual(expected);
      }),
    );
  });

  it('writes what one chunk gives at once', async () => {
    const written: string[] = [];
    const chunks = ['data: a\n\ndata: b\n\n', 'data: c\n\n'].map((text) => new TextEncoder().encode(text));
    await readEventStream(
      bodyOf(chunks),
      never,
      (data) => `<${data}>`,
      (text) => void written.push(text),
    );
    expect(written).toEqual(['<a><b>', '<c>']);
  });

  it('stops reading when the client leaves', async () => {
    const client = new AbortController();
    let cancelled: unknown;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: a\n\n')),
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const leave = (data: string) => {
      client.abort(new Error('gone'));
      return data;
    };
    await expect(readEventStream(body, client.signal, leave, () => {})).rejects.toThrow('gone');
    expect(cancelled).toEqual(new Error('gone'));
  });

  it('turns a body that breaks off into an error of ours', async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('socket')) });
    await expect(
      readEventStream(
        body,
        never,
        (data) => data,
        () => {},
      ),
    ).rejects.toMatchObject({ code: 'upstream_incomplete' });
  });
});
