import { describe, expect, it } from 'vitest';
import { resolveHost } from '../../src/net/resolve-host.ts';
import { createInternet, DNS_URL, hang } from '../support/fake-internet.ts';

const never = new AbortController().signal;
const resolverOf = (internet: Parameters<typeof createInternet>[0]) => {
  const { fetch, queries } = createInternet(internet);
  return { fetch, queries, dnsOverHttpsUrl: DNS_URL };
};

describe('resolveHost', () => {
  it('lists every IPv4 and IPv6 address and leaves aliases out', async () => {
    const resolver = resolverOf({ hosts: { 'example.com': ['1.2.3.4', '2606:4700::1', '5.6.7.8'] } });
    expect(await resolveHost('example.com', resolver, never)).toEqual(['1.2.3.4', '5.6.7.8', '2606:4700::1']);
    expect(resolver.queries.sort()).toEqual(['example.com A', 'example.com AAAA']);
  });

  it('asks for the JSON form, keeps nothing and does not follow redirects', async () => {
    const seen: [string | null, string, string][] = [];
    const dns = (_: string, type: string, request: Request) => {
      seen.push([request.headers.get('accept'), request.redirect, request.cache]);
      return Response.json({ Status: 0, Answer: type === 'A' ? [{ type: 1, data: '1.2.3.4' }] : [] });
    };
    expect(await resolveHost('example.com', resolverOf({ dns }), never)).toEqual(['1.2.3.4']);
    expect(seen).toEqual([
      ['application/dns-json', 'manual', 'no-store'],
      ['application/dns-json', 'manual', 'no-store'],
    ]);
  });

  it.each<[string, (name: string, type: string) => Response]>([
    ['a name that does not exist', () => Response.json({ Status: 3 })],
    ['a server failure', () => Response.json({ Status: 2 })],
    ['no address', () => Response.json({ Status: 0, Answer: [{ type: 5, data: 'other.example.' }] })],
    ['an answer that was cut short', () => Response.json({ Status: 0, TC: true, Answer: [{ type: 1, data: '1.2.3.4' }] })],
    ['an address without words for how it went', () => Response.json({ Answer: [{ type: 1, data: '1.2.3.4' }] })],
    [
      'an alias of a local name',
      () =>
        Response.json({
          Status: 0,
          Answer: [
            { type: 5, data: 'DB.internal.' },
            { type: 1, data: '1.2.3.4' },
          ],
        }),
    ],
    [
      'a chain of aliases through a local name',
      () =>
        Response.json({
          Status: 0,
          Answer: [
            { type: 5, data: 'cdn.example.com.' },
            { type: 5, data: 'metadata.google.internal.' },
            { type: 1, data: '1.2.3.4' },
          ],
        }),
    ],
    [
      'a delegation to a local name',
      () =>
        Response.json({
          Status: 0,
          Answer: [
            { type: 39, data: 'corp.' },
            { type: 1, data: '1.2.3.4' },
          ],
        }),
    ],
    ['a record that is no text', () => Response.json({ Status: 0, Answer: [{ type: 1, data: 16_909_060 }] })],
    ['an empty body', () => new Response(null)],
    ['an error status', () => new Response('{"Status":0,"Answer":[{"type":1,"data":"1.2.3.4"}]}', { status: 500 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://example.com/' } })],
    ['an answer that is not JSON', () => new Response('<html>')],
    ['an answer of another shape', () => Response.json([1])],
    ['an answer that is too long', () => Response.json({ Status: 0, Answer: [{ type: 1, data: '1.2.3.4' }], Comment: 'x'.repeat(70_000) })],
    [
      'a failure of one of the two queries',
      (_, type) => Response.json(type === 'A' ? { Status: 0, Answer: [{ type: 1, data: '1.2.3.4' }] } : { Status: 2 }),
    ],
    [
      'an unreachable resolver',
      () => {
        throw new TypeError('fetch failed');
      },
    ],
  ])('rejects on %s', async (_, dns) => {
    await expect(resolveHost('example.com', resolverOf({ dns }), never)).rejects.toThrow();
  });

  it('follows a chain of public aliases', async () => {
    const dns = (_: string, type: string) =>
      Response.json({
        Status: 0,
        TC: false,
        Answer: [
          { name: 'www.example.com', type: 5, data: 'cdn.example.net.' },
          { name: 'cdn.example.net', type: 5, data: 'edge.example.org' },
          ...(type === 'A' ? [{ name: 'edge.example.org', type: 1, data: '1.2.3.4' }] : []),
        ],
      });
    expect(await resolveHost('www.example.com', resolverOf({ dns }), never)).toEqual(['1.2.3.4']);
  });

  it('asks anew each time', async () => {
    const resolver = resolverOf({ hosts: { 'example.com': ['1.2.3.4'] } });
    await resolveHost('example.com', resolver, never);
    await resolveHost('example.com', resolver, never);
    expect(resolver.queries).toHaveLength(4);
  });

  it.each<[string, (signal: AbortSignal) => Response | Promise<Response>]>([
    ['is silent', (signal) => hang(signal)],
    ['stops in the middle of its answer', () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }))],
  ])('rejects after five seconds when the resolver %s', async (_, answer) => {
    const dns = (_name: string, _type: string, _request: Request, signal: AbortSignal) => answer(signal);
    await expect(resolveHost('example.com', resolverOf({ dns }), never)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('rejects when the signal fires', async () => {
    const controller = new AbortController();
    const dns = (_name: string, _type: string, _request: Request, signal: AbortSignal) => {
      controller.abort(new Error('left'));
      return hang(signal);
    };
    await expect(resolveHost('example.com', resolverOf({ dns }), controller.signal)).rejects.toThrow('left');
  });
});
