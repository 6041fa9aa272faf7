import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineHandler } from '../../src/handlers/define-handler.ts';
import { SkillError } from '../../src/skills/define.ts';
import { runHandler } from './run-handler.ts';

const lookUp = defineHandler({
  name: 'look-up',
  input: z.object({ id: z.string(), note: z.string().optional() }),
  output: z.object({ found: z.string(), note: z.string().optional() }),
  async run({ id, note }, { publicFetch, signal, apiKeyId }) {
    if (id === 'bug') throw new RangeError('index 7');
    if (id === 'none') throw new SkillError('No such id, see /srv/app/ids.json');
    const response = await publicFetch(new URL(`https://example.com/${id}`), { signal });
    return { found: `${await response.text()} for ${apiKeyId}`, note };
  },
});

describe('runHandler', () => {
  it('hands in what the handler uses and answers its output, with its type, as JSON carries it', async () => {
    const publicFetch = async (url: URL) => new Response(url.pathname);
    const output = await runHandler(lookUp, { id: 'a' }, { publicFetch, apiKeyId: 'key-9' });
    const found: string = output.found;
    expect(found).toBe('/a for key-9');
    expect(Object.keys(output)).toEqual(['found']);
  });

  it('rejects with what the model reads', async () => {
    await expect(runHandler(lookUp, { id: 7 })).rejects.toEqual(new SkillError('id: Invalid input: expected string, received number'));
    await expect(runHandler(lookUp, { id: 'none' })).rejects.toEqual(new SkillError('No such id, see [path]'));
    await expect(runHandler(lookUp, { id: 'a' })).rejects.toEqual(new SkillError('The test expects no use of the network'));
  });

  it('shows a bug as it is', async () => {
    await expect(runHandler(lookUp, { id: 'bug' })).rejects.toEqual(new RangeError('index 7'));
  });

  it('tells a handler that its client has left', async () => {
    const client = new AbortController();
    const publicFetch = (_: URL, { signal }: { signal: AbortSignal }) => {
      client.abort();
      return Promise.reject(signal.reason);
    };
    await expect(runHandler(lookUp, { id: 'a' }, { publicFetch, signal: client.signal })).rejects.toThrow('Cancelled: the client left');
  });
});
