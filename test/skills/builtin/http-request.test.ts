import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/json.ts';
import { createPublicFetch } from '../../../src/net/public-fetch.ts';
import { httpRequest } from '../../../src/skills/builtin/http-request.ts';
import { type SkillContext, SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createInternet, DNS_URL, hang } from '../../support/fake-internet.ts';
import { createSkillContext } from '../../support/skill-context.ts';

const hosts = { 'api.example.com': ['93.184.215.14', '2606:2800:21f::1'], 'inside.example.com': ['192.168.0.10'] };
const url = 'https://api.example.com/items';

function setUp(site?: (request: Request, signal: AbortSignal) => Response | Promise<Response>, parts: Partial<SkillContext> = {}) {
  const internet = createInternet(site === undefined ? { hosts } : { hosts, site });
  const publicFetch = createPublicFetch({ fetch: internet.fetch, dnsOverHttpsUrl: DNS_URL });
  const context = createSkillContext({ publicFetch, ...parts });
  return { requests: internet.requests, call: (input: JsonValue) => callSkill(httpRequest, input, context) };
}

describe('http_request', () => {
  it('sends a GET and returns status, headers and text', async () => {
    const { call, requests } = setUp(() => Response.json({ a: 'ä' }, { status: 200, statusText: 'OK', headers: { 'x-one': '1' } }));
    expect(await call({ url })).toEqual({
      success: true,
      url,
      method: 'GET',
      status: 200,
      statusText: 'OK',
      headers: { 'content-type': 'application/json', 'x-one': '1' },
      body: '{"a":"ä"}',
      bodyEncoding: 'utf8',
      truncated: false,
    });
    expect(requests.map((request) => request.method)).toEqual(['GET']);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('sends the body of a %s', async (method) => {
    const { call, requests } = setUp();
    expect(await call({ url, method: method.toLowerCase(), body: 'héllo', headers: { 'Content-Type': 'text/csv' } })).toMatchObject({
      method,
    });
    expect(requests[0]?.method).toBe(method);
    expect(requests[0]?.headers.get('content-type')).toBe('text/csv');
    expect(await requests[0]?.text()).toBe('héllo');
  });

  it('sends an object as JSON', async () => {
    const { call, requests } = setUp();
    await call({ url, method: 'POST', body: { a: [1] } });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    expect(await requests[0]?.json()).toEqual({ a: [1] });
  });

  it.each(['GET', 'HEAD'])('sends no body with %s', async (method) => {
    const { call, requests } = setUp(() => new Response(null, { headers: { 'content-length': '5' } }));
    expect(await call({ url, method, body: 'x' })).toMatchObject({
      success: true,
      method,
      body: '',
      bodyEncoding: 'utf8',
      truncated: false,
    });
    expect(requests[0]?.body).toBeNull();
  });

  it('returns an error status as an answer', async () => {
    const { call } = setUp(() => new Response('no such item', { status: 404, statusText: 'Not Found' }));
    expect(await call({ url })).toMatchObject({ success: false, status: 404, statusText: 'Not Found', body: 'no such item' });
  });

  it('takes null for what is left out', async () => {
    const { call } = setUp();
    expect(await call({ url, method: null, headers: null, body: null, timeoutMs: null, maxBytes: null })).toMatchObject({ method: 'GET' });
  });

  it("drops request headers that are not the model's to set", async () => {
    const { call, requests } = setUp();
    const dropped = {
      Host: 'evil.example',
      Connection: 'keep-alive, X-Named',
      'Content-Length': '1',
      Cookie: 'a=1',
      'Set-Cookie': 'a=1',
      Authorization: 'Bearer x',
      'Proxy-Authorization': 'Basic x',
      'Proxy-Authenticate': 'Basic',
      'Keep-Alive': '5',
      'Proxy-Connection': 'x',
      TE: 'trailers',
      Trailer: 'x',
      'Transfer-Encoding': 'chunked',
      Upgrade: 'h2c',
      Expect: '100-continue',
      'X-Named': '1',
    };
    await call({ url, headers: { ...dropped, 'X-Kept': '1', Accept: 'text/html' } });
    const sent = Object.fromEntries(requests[0]?.headers ?? []);
    expect(sent).toEqual({ 'x-kept': '1', accept: 'text/html', 'user-agent': 'omniroute-edge' });
  });

  it('keeps a user agent that is set', async () => {
    const { call, requests } = setUp();
    await call({ url, headers: { 'User-Agent': 'mine' } });
    expect(requests[0]?.headers.get('user-agent')).toBe('mine');
  });

  it('drops cookies and what belongs to the connection from the answer', async () => {
    const headers = {
      'set-cookie': 'a=1',
      connection: 'close, x-hop',
      'x-hop': '1',
      'keep-alive': '5',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
      etag: 'e',
    };
    const { call } = setUp(() => new Response('x', { headers }));
    expect((await call({ url })).headers).toEqual({ 'content-type': 'text/plain;charset=UTF-8', etag: 'e' });
  });

  it.each(['bad name', 'bad\nname', ''])('refuses the header name %j', async (name) => {
    await expect(setUp().call({ url, headers: { [name]: 'x' } })).rejects.toEqual(new SkillError(`headers.${name}: Invalid header`));
  });

  it('reads at most the limit of the gateway, or less when asked', async () => {
    const { call } = setUp(() => new Response('x'.repeat(300_000)));
    for (const [maxBytes, length] of [
      [null, 256_000],
      [10, 10],
      [1_000_000, 256_000],
    ] as const) {
      const { body, truncated } = await call({ url, maxBytes });
      expect({ length: String(body).length, truncated }).toEqual({ length, truncated: true });
    }
  });

  it('returns a body that is no text as base64', async () => {
    const { call } = setUp(() => new Response(new Uint8Array([0x89, 0x50]), { headers: { 'content-type': 'image/png' } }));
    expect(await call({ url })).toMatchObject({ body: 'iVA=', bodyEncoding: 'base64' });
  });

  it.each([
    [{}, 'Missing required field: url'],
    [{ url: '' }, 'Missing required field: url'],
    [{ url: null }, 'Missing required field: url'],
    [{ url: 'items' }, 'url: Invalid URL'],
    [{ url, method: 'TRACE' }, 'Unsupported HTTP method: TRACE'],
    [{ url, method: 'connect' }, 'Unsupported HTTP method: connect'],
    [{ url, headers: { a: 1 } }, 'headers.a: Invalid input: expected string, received number'],
    [{ url, timeoutMs: 60_001 }, 'timeoutMs: Too big: expected number to be <=60000'],
    [{ url, timeoutMs: 0 }, 'timeoutMs: Too small: expected number to be >=1'],
    [{ url: 'http://127.0.0.1:8890/' }, 'Blocked private or local URL'],
    [{ url: 'http://2130706433/' }, 'Blocked private or local URL'],
    [{ url: 'http://inside.example.com/' }, 'Blocked private or local URL'],
    [{ url: 'http://nowhere.example.com/' }, 'Blocked private or local URL'],
    [{ url: 'http://me:secret@api.example.com/' }, 'Blocked private or local URL'],
    [{ url: 'file:///etc/passwd' }, 'Blocked private or local URL'],
    [{ url: 'http://169.254.169.254/latest/meta-data/' }, 'Blocked private or local URL'],
  ])('answers %j with its error and sends nothing', async (input, message) => {
    const { call, requests } = setUp();
    await expect(call(input)).rejects.toEqual(new SkillError(message));
    expect(requests).toEqual([]);
  });

  it('does not follow redirects', async () => {
    const { call, requests } = setUp(() => Response.redirect('http://127.0.0.1/', 302));
    await expect(call({ url })).rejects.toEqual(new SkillError('Redirect blocked (302)'));
    expect(requests).toHaveLength(1);
  });

  it('gives up at its timeout', async () => {
    await expect(setUp((_, signal) => hang(signal)).call({ url, timeoutMs: 20 })).rejects.toEqual(new SkillError('Timed out after 20 ms'));
  });

  it('gives up at its timeout in the middle of the body too', async () => {
    const stalled = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }));
    await expect(setUp(stalled).call({ url, timeoutMs: 20 })).rejects.toEqual(new SkillError('Timed out after 20 ms'));
  });

  it('stops when the caller does', async () => {
    const controller = new AbortController();
    const site = (_: Request, signal: AbortSignal) => {
      controller.abort(new Error('left'));
      return hang(signal);
    };
    await expect(setUp(site, { signal: controller.signal }).call({ url })).rejects.toThrow('left');
  });

  it('may take longer than the longest timeout that it accepts', () => expect(httpRequest.timeoutMs).toBeGreaterThan(60_000));
});
