import { expect, it } from 'vitest';
import { createHandlerBody } from '../../src/api/handlers.ts';
import { createPublicFetch } from '../../src/net/public-fetch.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createWebhookHandler } from '../../src/webhooks/create-webhook-handler.ts';
import { signBody } from '../../src/webhooks/sign-body.ts';
import { createInternet, DNS_URL, hang } from '../support/fake-internet.ts';
import { createSkillContext } from '../support/skill-context.ts';

const SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const NOW = new Date('2026-11-30T12:00:00.999Z');
const hosts = { 'hooks.example.com': ['93.184.215.14'] };

function setUp(site: NonNullable<Parameters<typeof createInternet>[0]['site']>, timeoutMs = 10_000) {
  const internet = createInternet({ hosts, site });
  const endpoint = { url: 'https://hooks.example.com/', secret: SECRET, timeoutMs };
  const dependencies = { webhooks: { findEndpoint: async () => endpoint }, now: () => NOW, newId: () => 'delivery-1' };
  const context = createSkillContext({ publicFetch: createPublicFetch({ fetch: internet.fetch, dnsOverHttpsUrl: DNS_URL }) });
  return { run: () => createWebhookHandler('weather', dependencies).run({ city: 'Oslo' }, context), requests: internet.requests };
}

it('webhooks are signed in workerd as they are elsewhere', async () => {
  const hex = 'd8a001f36fac4573da71855e82ef7e262a22d3913ad360a8c4c914249732c82f';
  expect(await signBody('{"skill":"weather"}', SECRET, NOW)).toBe(`t=1796040000,v1=${hex}`);
});

it('webhooks are called by workerd', async () => {
  const { run, requests } = setUp(async (request) => Response.json({ asked: await request.json() }));
  expect(await run()).toMatchObject({ asked: { skill: 'test', input: { city: 'Oslo' }, deliveryId: 'delivery-1' } });
  expect(requests[0]?.headers.get('x-omniroute-signature')).toMatch(/^t=1796040000,v1=[0-9a-f]{64}$/);
});

it('webhooks that are silent end at their timeout', async () => {
  const { run } = setUp((_, signal) => hang(signal), 30);
  await expect(run()).rejects.toEqual(new SkillError('The webhook timed out after 30 ms'));
});

it.each([
  ['https://bücher.example:8443', 'https://xn--bcher-kva.example:8443/'],
  ['https://0x7f.1/', undefined],
  ['http://hooks.example.com/', undefined],
  ['https://me@hooks.example.com/', undefined],
])('the URL %s is read as elsewhere', (url, kept) => {
  expect(createHandlerBody.safeParse({ name: 'weather', url, secret: SECRET }).data?.url).toBe(kept);
});
