import { describe, expect, it } from 'vitest';
import { createPublicFetch } from '../../src/net/public-fetch.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createInternet, DNS_URL, hang } from '../support/fake-internet.ts';

const hosts = {
  'example.com': ['93.184.215.14', '2606:2800:21f::1'],
  'loopback.example.com': ['127.0.0.1'],
  'mixed.example.com': ['93.184.215.14', '10.0.0.1'],
  'mixed6.example.com': ['93.184.215.14', '::1'],
  'odd.example.com': ['93.184.215.14', '0x7f.1'],
};
const signal = new AbortController().signal;

function setUp(site?: (request: Request) => Response | Promise<Response>) {
  const internet = createInternet(site === undefined ? { hosts } : { hosts, site });
  return { ...internet, publicFetch: createPublicFetch({ fetch: internet.fetch, dnsOverHttpsUrl: DNS_URL }) };
}

describe('createPublicFetch', () => {
  it('asks a host whose addresses are all public', async () => {
    const { publicFetch, requests } = setUp();
    const response = await publicFetch(new URL('https://example.com./a'), { method: 'POST', body: 'x', signal });
    expect(await response.text()).toBe('hello');
    expect(requests.map(({ url, method, redirect }) => ({ url, method, redirect }))).toEqual([
      { url: 'https://example.com/a', method: 'POST', redirect: 'manual' },
    ]);
  });

  it('asks an address without a look-up', async () => {
    const { publicFetch, queries } = setUp();
    expect((await publicFetch(new URL('http://93.184.215.14/'), { signal })).status).toBe(200);
    expect(queries).toEqual([]);
  });

  it('looks names up by one network and asks sites by the other', async () => {
    const [outside, inside] = [createInternet({ hosts }), createInternet({})];
    const publicFetch = createPublicFetch({ fetch: inside.fetch, siteFetch: outside.fetch, dnsOverHttpsUrl: DNS_URL });
    await expect(publicFetch(new URL('https://example.com/'), { signal })).rejects.toThrow('Blocked private or local URL');
    const split = createPublicFetch({ fetch: outside.fetch, siteFetch: inside.fetch, dnsOverHttpsUrl: DNS_URL });
    expect((await split(new URL('https://example.com/'), { signal })).status).toBe(200);
    expect([outside.requests, inside.requests.map(({ url }) => url)]).toEqual([[], ['https://example.com/']]);
  });

  it('judges a name anew for each request, so that it is refused as soon as it moves', async () => {
    const moving = { 'example.com': ['93.184.215.14'] };
    const { fetch, requests } = createInternet({ hosts: moving });
    const publicFetch = createPublicFetch({ fetch, dnsOverHttpsUrl: DNS_URL });
    expect((await publicFetch(new URL('https://example.com/'), { signal })).status).toBe(200);
    moving['example.com'] = ['192.168.0.1'];
    await expect(publicFetch(new URL('https://example.com/'), { signal })).rejects.toThrow('Blocked private or local URL');
    expect(requests).toHaveLength(1);
  });

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://user@example.com/',
    'ftp://example.com/',
    'http://loopback.example.com/',
    'http://mixed.example.com/',
    'http://mixed6.example.com/',
    'http://odd.example.com/',
    'http://unknown.example.com/',
  ])('refuses %s and sends nothing there', async (url) => {
    const { publicFetch, requests } = setUp();
    await expect(publicFetch(new URL(url), { signal })).rejects.toEqual(new SkillError('Blocked private or local URL'));
    expect(requests).toEqual([]);
  });

  it.each([300, 301, 302, 303, 307, 308])('refuses a redirect with %i', async (status) => {
    const { publicFetch, requests } = setUp(() => new Response(null, { status, headers: { location: 'http://127.0.0.1/' } }));
    await expect(publicFetch(new URL('https://example.com/'), { signal })).rejects.toEqual(new SkillError(`Redirect blocked (${status})`));
    expect(requests).toHaveLength(1);
  });

  it.each([300, 304])('hands on %i without a location', async (status) => {
    const { publicFetch } = setUp(() => new Response(null, { status }));
    expect((await publicFetch(new URL('https://example.com/'), { signal })).status).toBe(status);
  });

  it('says which host does not answer, and nothing else', async () => {
    const { publicFetch } = setUp(() => Promise.reject(new TypeError('connect ECONNREFUSED 93.184.215.14:8443')));
    await expect(publicFetch(new URL('https://example.com:8443/secret?token=1'), { signal })).rejects.toEqual(
      new SkillError('No answer from example.com:8443', { transient: true }),
    );
  });

  it.each(['dns', 'site'] as const)('rejects with the reason of a signal that fires while it waits for the %s', async (where) => {
    const controller = new AbortController();
    const leave = (signal: AbortSignal) => {
      controller.abort(new Error('left'));
      return hang(signal);
    };
    const internet = createInternet(
      where === 'dns' ? { dns: (_name, _type, _request, signal) => leave(signal) } : { hosts, site: (_, signal) => leave(signal) },
    );
    const publicFetch = createPublicFetch({ fetch: internet.fetch, dnsOverHttpsUrl: DNS_URL });
    await expect(publicFetch(new URL('https://example.com/'), { signal: controller.signal })).rejects.toThrow('left');
  });
});
