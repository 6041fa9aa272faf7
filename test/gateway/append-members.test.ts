import { describe, expect, it } from 'vitest';
import { appendMembers } from '../../src/gateway/append-members.ts';
import type { JsonObject } from '../../src/json.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

describe('appendMembers', () => {
  it('keeps the bytes as they came and puts the new members behind them', () => {
    const text = ' { "model" : "m", "messages": [{"content": "ü } \\u00e9"}]\n} \n';
    const original = JSON.parse(text) as JsonObject;
    const changed = { ...original, tools: [{ name: 'a' }, 'b', null, [1]], options: { deep: { usage: true } } };
    const result = textOf(appendMembers(bytesOf(text), original, changed));
    expect(result).toBe(
      ' { "model" : "m", "messages": [{"content": "ü } \\u00e9"}]\n,"tools":[{"name":"a"},"b",null,[1]],"options":{"deep":{"usage":true}}}',
    );
    expect(JSON.parse(result ?? '')).toEqual(changed);
  });

  it('adds to an object without members', () => {
    expect(textOf(appendMembers(bytesOf('{ }'), {}, { tools: [] }))).toBe('{ "tools":[]}');
  });

  it('gives equal bytes for the same entries in the next request', () => {
    const tools = [{ name: 'a' }, { name: 'b' }];
    const append = () => textOf(appendMembers(bytesOf('{"n":1}'), { n: 1 }, { n: 1, tools: [...tools] }));
    expect(append()).toBe('{"n":1,"tools":[{"name":"a"},{"name":"b"}]}');
    expect(append()).toBe(append());
  });

  it('copies when nothing was added', () => {
    expect(textOf(appendMembers(bytesOf('{"n":1}'), { n: 1 }, { n: 1 }))).toBe('{"n":1}');
  });

  it.each<[string, JsonObject]>([
    ['changed', { model: 'other', messages: [] }],
    ['gone', { messages: [] }],
  ])('does nothing when a member is %s', (_, changed) => {
    const original = { model: 'm', messages: [] };
    expect(appendMembers(bytesOf(JSON.stringify(original)), original, { ...changed, tools: [] })).toBeUndefined();
  });

  it('does nothing when a member is an equal object, but not the same', () => {
    expect(appendMembers(bytesOf('{"a":[]}'), { a: [] }, { a: [], tools: [] })).toBeUndefined();
  });
});
