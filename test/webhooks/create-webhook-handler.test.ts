import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { createPublicFetch } from '../../src/net/public-fetch.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createWebhookHandler } from '../../src/webhooks/create-webhook-handler.ts';
import { signBody } from '../../src/webhooks/sign-body.ts';
import type { Endpoint } from '../../src/webhooks/webhook.ts';
import { createInternet, DNS_URL, hang } from '../support/fake-internet.ts';
import { createSkillContext } from '../support/skill-context.ts';

const NOW = new Date('2026-11-30T12:00:00.000Z');
const SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const URL_TEXT = 'https://hooks.example.com/weather?token=t0k3n';
const hosts = { 'hooks.example.com': ['93.184.215.14'], 'inside.example.com': ['93.184.215.14', '10.0.0.7'] };

type Site = NonNullable<Parameters<typeof createInternet>[0]['site']>;

interface SetUp {
  endpoint?: Partial<Endpoint>;
  maxHttpResponseBytes?: number;
  signal?: AbortSignal;
}

/** The handler `weather` in front of a site, and how to run it. */
function setUp(site: Site, { endpoint = {}, maxHttpResponseBytes = 1_000, signal = new AbortController().signal }: SetUp = {}) {
  const internet = createInternet({ hosts, site });
  const stored: Record<string, Endpoint> = { weather: { url: URL_TEXT, secret: SECRET, timeoutMs: 10_000, ...endpoint } };
  let deliveries = 0;
  const handler = createWebhookHandler('weather', {
    webhooks: { findEndpoint: async (name) => stored[name] },
    now: () => NOW,
    newId: () => `delivery-${++deliveries}`,
  });
  const plain = createSkillContext();
  const context = createSkillContext({
    skill: { name: 'forecast', version: '2.1.0' },
    sessionId: 'session-1',
    signal,
    publicFetch: createPublicFetch({ fetch: internet.fetch, dnsOverHttpsUrl: DNS_URL }),
    limits: { ...plain.limits, maxHttpResponseBytes },
  });
  return { ...internet, stored, run: (input: JsonValue = {}) => handler.run(input, context) };
}

const answer =
  (body: BodyInit | null, status = 200): Site =>
  () =>
    new Response(body, { status });
const json = (value: JsonValue, status = 200): Site => answer(JSON.stringify(value), status);

/** How the run failed. */
async function failureOf(site: Site, options?: SetUp): Promise<{ message: string; transient: boolean }> {
  const error = await setUp(site, options)
    .run()
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(SkillError);
  const { message, transient } = error as SkillError;
  return { message, transient };
}

describe('a webhook that is called', () => {
  it('gets one signed POST that says which skill and for whom', async () => {
    const { run, requests } = setUp(json({ degrees: 21 }));
    expect(await run({ city: 'Oslo', note: '雪 ☃' })).toEqual({ degrees: 21 });
    const [request] = requests as [Request];
    const body = await request.text();
    expect([requests.length, request.method, request.url, request.redirect]).toEqual([1, 'POST', URL_TEXT, 'manual']);
    expect(Object.fromEntries(request.headers)).toEqual({
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'omniroute-edge',
      'x-omniroute-signature': await signBody(body, SECRET, NOW),
    });
    expect(JSON.parse(body)).toEqual({
      skill: 'forecast',
      version: '2.1.0',
      input: { city: 'Oslo', note: '雪 ☃' },
      context: { apiKeyId: 'key-1', sessionId: 'session-1', executionId: '0b9f7c1e-5a55-4d0c-9d3c-3f3e6d0f5a11' },
      deliveryId: 'delivery-1',
    });
  });

  it('is never sent the same bytes twice, so that a receiver can refuse what it has seen', async () => {
    const { run, requests } = setUp(json({}));
    await run({ city: 'Oslo' });
    await run({ city: 'Oslo' });
    const signatures = requests.map(({ headers }) => headers.get('x-omniroute-signature'));
    expect(new Set(signatures).size).toBe(2);
  });

  it('is looked up anew for each call: its URL and secret may have changed', async () => {
    const { run, requests, stored } = setUp(json({}));
    await run();
    stored.weather = { url: 'https://hooks.example.com/v2', secret: 'x'.repeat(32), timeoutMs: 10_000 };
    await run();
    const [, second] = requests as [Request, Request];
    expect(second.url).toBe('https://hooks.example.com/v2');
    expect(second.headers.get('x-omniroute-signature')).toBe(await signBody(await second.text(), 'x'.repeat(32), NOW));
    delete stored.weather;
    await expect(run()).rejects.toEqual(new SkillError('There is no handler named weather any more'));
    expect(requests).toHaveLength(2);
  });

  it('is not called while the database cannot tell where it is; that may be tried again', async () => {
    const handler = createWebhookHandler('weather', {
      webhooks: { findEndpoint: () => Promise.reject(new AppError('database_unavailable', 'The database cannot be reached')) },
      now: () => NOW,
      newId: () => 'x',
    });
    const error = new SkillError('The database cannot be reached', { beforeRun: true });
    await expect(handler.run({}, createSkillContext())).rejects.toEqual(error);
  });

  it('fails as any bug does when what looks it up has one', async () => {
    const bug = new TypeError('rows is not iterable');
    const handler = createWebhookHandler('weather', {
      webhooks: { findEndpoint: () => Promise.reject(bug) },
      now: () => NOW,
      newId: () => 'x',
    });
    await expect(handler.run({}, createSkillContext())).rejects.toBe(bug);
  });

  it.each(['https://inside.example.com/', 'https://nowhere.example.com/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])(
    'is not asked when %s leads to a private address by now',
    async (url) => {
      const { run, requests } = setUp(json({}), { endpoint: { url } });
      await expect(run()).rejects.toEqual(new SkillError('Blocked private or local URL'));
      expect(requests).toEqual([]);
    },
  );
});

describe('an answer', () => {
  it.each<[string, Site, JsonObject]>([
    ['an empty object', json({}), {}],
    ['any type', () => new Response('{"a":[1]}', { headers: { 'content-type': 'text/html' } }), { a: [1] }],
    ['201', json({ made: true }, 201), { made: true }],
    ['a byte order mark', answer('\ufeff{"a":1}'), { a: 1 }],
    ['a body of just the limit', answer(`{"a":"${'x'.repeat(992)}"}`), { a: 'x'.repeat(992) }],
    ['64 levels', answer(`${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`), JSON.parse(`${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`)],
  ])('may be %s', async (_, site, output) => expect(await setUp(site).run()).toEqual(output));

  it.each<[string, Site, string]>([
    ['nothing', answer(null, 204), 'The webhook did not answer with JSON'],
    ['an empty text', answer(''), 'The webhook did not answer with JSON'],
    ['a page', answer('<html>token=t0k3n</html>'), 'The webhook did not answer with JSON'],
    ['half an object', answer('{"a":'), 'The webhook did not answer with JSON'],
    ['bytes that are not UTF-8', answer(new Uint8Array([0x7b, 0xff, 0x7d])), 'The webhook did not answer with JSON'],
    ['an array', json([1]), 'The webhook did not answer with a JSON object'],
    ['null', json(null), 'The webhook did not answer with a JSON object'],
    ['a text', json('ok'), 'The webhook did not answer with a JSON object'],
    ['65 levels', answer(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`), "The webhook's answer is nested deeper than 64 levels"],
    ['more than the limit', answer(`{"a":"${'x'.repeat(993)}"}`), "The webhook's answer exceeds the 1000 byte limit"],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: 'https://10.0.0.1/' } }), 'Redirect blocked (307)'],
    ['304', answer(null, 304), 'The webhook answered with status 304'],
    ['a word', answer('no'), 'The webhook did not answer with JSON'],
    ['401 with a reason', json({ error: 'bad signature' }, 401), 'The webhook answered with status 401'],
    ['403 with a reason', json({ error: 'who are you' }, 403), 'The webhook answered with status 403'],
    ['400 with a page', answer('<h1>Bad</h1>', 400), 'The webhook answered with status 400'],
    ['422 with a list', json({ error: ['x'] }, 422), 'The webhook answered with status 422'],
    ['422 with blanks', json({ error: '  ' }, 422), 'The webhook answered with status 422'],
    ['422 with an array', json([{ error: 'x' }], 422), 'The webhook answered with status 422'],
    ['400 with a reason', json({ error: ' Give a city ' }, 400), 'Give a city'],
    ['404 with a reason', json({ error: 'No such city: Olso' }, 404), 'No such city: Olso'],
    ['409 with a reason', json({ error: 'Booked already' }, 409), 'Booked already'],
    ['422 with a reason', json({ error: 'Give a city', code: 7 }, 422), 'Give a city'],
  ])('that is %s is an error that stays', async (_, site, message) => {
    expect(await failureOf(site)).toEqual({ message, transient: false });
  });

  it.each([429, 500, 502, 503, 504, 599])('of %i is an error that may pass, and tells nothing but its number', async (status) => {
    const site = json({ error: 'at /srv/app.js: password=hunter22' }, status);
    expect(await failureOf(site)).toEqual({ message: `The webhook answered with status ${status}`, transient: true });
  });

  it('never brings its secret or address to the model', async () => {
    const site = json({ error: `${SECRET} is not ${SECRET}, see ${URL_TEXT}` }, 422);
    expect(await failureOf(site)).toEqual({ message: '[secret] is not [secret], see [url]', transient: false });
  });

  it('may be anything at all: it is an object, or an error that the model reads', async () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 1_200 }),
      fc.json().map((text) => new TextEncoder().encode(text)),
    );
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 200, max: 599 }), async (bytes, status) => {
        const hasBody = ![204, 205, 304].includes(status);
        const output = await setUp(answer(hasBody ? new Uint8Array(bytes) : null, status))
          .run()
          .catch((error: unknown) => error);
        expect(output instanceof SkillError || (status < 300 && !(output instanceof Error) && isJsonObject(output))).toBe(true);
      }),
    );
  });

  it('is read no further than its limit', async () => {
    let pulled = 0;
    let cancelled = false;
    const flood = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(600).fill(0x20));
      },
      cancel() {
        cancelled = true;
      },
    });
    expect(await failureOf(answer(flood))).toMatchObject({ message: "The webhook's answer exceeds the 1000 byte limit" });
    expect([pulled < 10, cancelled]).toEqual([true, true]);
  });

  it('that never comes, since there is no connection, names no host', async () => {
    const site: Site = () => Promise.reject(new TypeError('connect ECONNREFUSED 93.184.215.14:443'));
    expect(await failureOf(site)).toEqual({ message: 'The webhook cannot be reached', transient: true });
  });

  it('that breaks off may come whole the next time', async () => {
    const broken = () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')),
        pull: (controller) => controller.error(new TypeError('terminated: hooks.example.com')),
      });
    expect(await failureOf(() => new Response(broken()))).toEqual({ message: "The webhook's answer broke off", transient: true });
  });
});

describe('the timeout', () => {
  const silentBody = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) }));

  it.each<[string, Site]>([
    ['the answer', (_, signal) => hang(signal)],
    ['its body', silentBody],
  ])('covers %s', async (_, site) => {
    const failure = await failureOf(site, { endpoint: { timeoutMs: 30 } });
    expect(failure).toEqual({ message: 'The webhook timed out after 30 ms', transient: false });
  });

  it.each<[string, (leave: () => void) => Site]>([
    [
      'the answer',
      (leave) => (_, signal) => {
        leave();
        return hang(signal);
      },
    ],
    [
      'its body',
      (leave) => () => {
        queueMicrotask(leave);
        return silentBody();
      },
    ],
  ])('is not blamed when the client leaves before %s', async (_, siteFor) => {
    const client = new AbortController();
    const site = siteFor(() => client.abort(new Error('left')));
    await expect(setUp(site, { signal: client.signal }).run()).rejects.toThrow('left');
  });
});
