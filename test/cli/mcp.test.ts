import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { runCli } from '../support/run-cli.ts';

it('tells on a terminal what the gateway says without what would steer it, and the client all of it', async () => {
  const message = 'No\u001b[2J\u202e such key';
  const stdin = new PassThrough();
  const running = runCli(['mcp'], {
    stdin,
    token: 'omr_x',
    fetch: async () => {
      // The answer is on its way by the time that the client closes.
      setImmediate(() => stdin.end());
      return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }, { status: 400 });
    },
  });
  stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const { stdout, stderr } = await running;
  expect(stderr).toBe('mcp: ping: No\u241b[2J\ufffd such key\n');
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { message } });
});
