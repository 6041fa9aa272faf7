import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askMarketplace } from '../../src/marketplaces/ask-marketplace.ts';
import { readSkillFile } from '../../src/marketplaces/read-skill-file.ts';
import { type MarketplaceServer, startMarketplaceServer } from '../support/marketplace-server.ts';

let server: MarketplaceServer;
beforeEach(async () => {
  server = await startMarketplaceServer();
});
afterEach(() => server.close());

const ask = (path: string, timeoutMs = 5_000) =>
  askMarketplace(fetch, { title: 'X', url: `${server.url}${path}`, apiKey: 'secret', timeoutMs });

describe('askMarketplace', () => {
  it('waits no longer than it may, for the head and for the body', async () => {
    server.overrides.set('/silent', () => {});
    server.overrides.set('/stalled', (_, response) => void response.writeHead(200).write('{'));
    const late = { code: 'marketplace_timeout', message: 'X did not answer within 100 ms' };
    await expect(ask('/silent', 100)).rejects.toMatchObject(late);
    await expect(ask('/stalled', 100)).rejects.toMatchObject(late);
  });

  it('says when nobody is there', async () => {
    const { url } = server;
    await server.close();
    await expect(askMarketplace(fetch, { title: 'X', url, timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'marketplace_unreachable',
      message: 'X cannot be reached',
    });
  });

  it('takes the key along within the origin, and nowhere else', async () => {
    const other = await startMarketplaceServer();
    server.overrides.set('/a', (_, response) => void response.writeHead(302, { location: 'b' }).end());
    server.overrides.set('/b', (_, response) => void response.writeHead(200).end('ok'));
    server.overrides.set('/away', (_, response) => void response.writeHead(307, { location: `${other.url}/` }).end());
    expect(new TextDecoder().decode((await ask('/a'))?.bytes)).toBe('ok');
    expect(server.requests).toEqual([
      { path: '/a', authorization: 'Bearer secret' },
      { path: '/b', authorization: 'Bearer secret' },
    ]);
    await expect(ask('/away')).rejects.toMatchObject({ code: 'marketplace_failed' });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('does not go round in circles', async () => {
    server.overrides.set('/round', (_, response) => void response.writeHead(302, { location: '/round' }).end());
    await expect(ask('/round')).rejects.toMatchObject({ code: 'marketplace_failed' });
    expect(server.requests).toHaveLength(4);
  });

  it('stops reading at 256 KiB', async () => {
    let sent = 0;
    server.overrides.set('/flood', (_, response) => {
      const block = Buffer.alloc(65_536, 120);
      const pour = () => {
        while (!response.destroyed) {
          sent += block.length;
          if (!response.write(block)) return;
        }
      };
      response.on('drain', pour);
      pour();
    });
    const answer = await ask('/flood');
    expect([answer?.truncated, answer?.bytes.length]).toEqual([true, 262_144]);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('readSkillFile', () => {
  it('has one time for all the places where it looks', async () => {
    const slow = (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      void setTimeout(() => response.writeHead(404).end(), 200);
    for (const place of ['/1', '/2', '/3', '/4']) server.overrides.set(place, slow);
    const urls = ['/1', '/2', '/3', '/4'].map((place) => `${server.url}${place}`);
    await expect(readSkillFile(fetch, { repository: 'o/r', folder: 'x', urls }, 300)).rejects.toMatchObject({
      code: 'marketplace_timeout',
    });
    expect(server.requests.length).toBeLessThan(4);
  });
});
