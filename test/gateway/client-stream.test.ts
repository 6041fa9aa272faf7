import { describe, expect, it } from 'vitest';
import { createClientStream } from '../../src/gateway/client-stream.ts';

const read = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> => {
  const { value } = await reader.read();
  return value === undefined ? undefined : new TextDecoder().decode(value);
};

function openStream(now: () => number) {
  let left = false;
  const client = createClientStream(() => {
    left = true;
  }, now);
  return { client, reader: client.readable.getReader(), hasLeft: () => left };
}

describe('createClientStream', () => {
  it('hands on at once what comes in different milliseconds', async () => {
    let time = 1;
    const { client, reader } = openStream(() => time++);
    client.write('a');
    client.write('b');
    expect(await read(reader)).toBe('a');
    expect(await read(reader)).toBe('b');
  });

  it('gathers what comes in the same millisecond as a chunk, and sends it without another write', async () => {
    const { client, reader } = openStream(() => 1);
    for (const text of ['a', 'b', 'é']) client.write(text);
    expect(await read(reader)).toBe('a');
    expect(await read(reader)).toBe('bé');
  });

  it('does not gather more than 64 KiB', async () => {
    const { client, reader } = openStream(() => 1);
    client.write('a');
    client.write('b'.repeat(65_537));
    client.close();
    expect(await read(reader)).toBe('a');
    expect(await read(reader)).toHaveLength(65_537);
    expect(await read(reader)).toBeUndefined();
  });

  it('sends what is gathered before it ends', async () => {
    const { client, reader } = openStream(() => 1);
    client.write('a');
    client.write('b');
    client.close();
    client.write('too late');
    expect([await read(reader), await read(reader), await read(reader)]).toEqual(['a', 'b', undefined]);
  });

  it('makes the writer wait for a client that does not read, until it reads', async () => {
    let time = 1;
    const { client, reader } = openStream(() => time++);
    let written = 0;
    let waits: Promise<void> | undefined;
    for (; waits === undefined && written < 100; written++) waits = client.write('x');
    expect(written).toBe(16);
    await read(reader);
    await waits;
  });

  it('tells of a client that leaves, and lets the writer go', async () => {
    let time = 1;
    const { client, reader, hasLeft } = openStream(() => time++);
    let waits: Promise<void> | undefined;
    while (waits === undefined) waits = client.write('x');
    await reader.cancel();
    await waits;
    expect(hasLeft()).toBe(true);
    expect(client.write('x')).toBeUndefined();
    client.close();
  });

  it('probes only a client that has taken everything, and the silence goes on', async () => {
    let time = 1;
    const { client, reader } = openStream(() => time);
    client.write('a');
    client.write('b');
    client.probe('?');
    expect(await read(reader)).toBe('a');
    expect(await read(reader)).toBe('b');
    time = 5;
    client.probe('?');
    expect(await read(reader)).toBe('?');
    expect(client.silentMs()).toBe(4);
  });
});
