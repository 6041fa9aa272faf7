import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { signBody } from '../../src/webhooks/sign-body.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createInternet, DNS_URL } from '../support/fake-internet.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');
const chapter = /^## Write your own skill\n.*?(?=^## )/ms.exec(readme)?.[0] ?? '';

/** The code of the chapter in this language that holds the text, without the indentation of the list it stands in. */
function codeWith(language: string, text: string): string {
  const blocks = [...chapter.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)\n\\1\`\`\``, 'gms'))].map(([, indent = '', code = '']) =>
    code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const found = blocks.filter((block) => block.includes(text));
  expect(found).toHaveLength(1);
  return found[0] as string;
}

const withoutImportsOfFiles = (code: string): string =>
  code
    .split('\n')
    .filter((line) => !/^import .* from '\..*'|^\/\/ /.test(line))
    .join('\n')
    .trim();

describe('what the README prints', () => {
  it.each([
    ['ts', 'defineHandler({', 'examples/word-count/word-count.ts'],
    ['ts', 'await runHandler', 'examples/word-count/word-count.test.ts'],
    ['js', 'verifySignature', 'examples/webhook/verify-signature.mjs'],
  ])('as %s with %s is %s, which is tested', (language, text, file) => {
    expect(withoutImportsOfFiles(codeWith(language, text))).toBe(withoutImportsOfFiles(read(file)));
  });

  it('names where its files go', () => {
    expect(codeWith('ts', 'await runHandler')).toContain("from './run-handler.ts'");
    expect(() => read('test/handlers/run-handler.ts')).not.toThrow();
    expect(codeWith('ts', 'defineHandler({')).toContain("from './define-handler.ts'");
    expect(() => read('src/handlers/define-handler.ts')).not.toThrow();
  });
});

describe('the requests of the chapter', () => {
  const SECRET = 'ab'.repeat(32);
  let app: TestApp;
  let delivered: JsonObject;
  beforeAll(async () => {
    const internet = createInternet({
      hosts: { 'shop.example.com': ['93.184.215.14'] },
      site: async (request) => {
        delivered = (await request.json()) as JsonObject;
        return Response.json({ orderId: 'A-1001', status: 'shipped' });
      },
    });
    app = await createTestApp({ upstream: internet.fetch, variables: { DNS_OVER_HTTPS_URL: DNS_URL } });
  });
  afterAll(() => app.close());

  it('work one after the other', async () => {
    const requests = [...chapter.matchAll(/curl -X POST \$URL(\S+) -H "Authorization: Bearer \$(\w+)".* -d '(\{.*\})'\n/g)];
    const results: unknown[] = [];
    for (const [, path = '', token, body = ''] of requests) {
      const sent = body.replace("'$WEBHOOK_SECRET'", SECRET);
      const { status, body: answer } = await app.call(path, { body: sent, ...(token === 'API_KEY' && { as: app.key.key }) });
      const { status: ended, output } = (answer.execution ?? {}) as JsonObject;
      results.push([status, path, ...(ended === undefined ? [] : [ended, output])]);
    }
    expect(results).toEqual([
      [201, '/api/handlers'],
      [201, '/api/skills/install'],
      [200, '/api/skills/executions', 'success', { orderId: 'A-1001', status: 'shipped' }],
      [201, '/api/skills/install'],
      [200, '/api/skills/executions', 'success', { reversed: 'egde' }],
      [201, '/api/skills/install'],
    ]);
  });

  it('send what the chapter shows', () => {
    const shown = JSON.parse(codeWith('json', 'deliveryId')) as JsonObject;
    const shapeOf = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]))
        : value === null
          ? null
          : typeof value;
    expect(shapeOf(delivered)).toEqual(shapeOf(shown));
    expect(Object.keys(delivered)).toEqual(Object.keys(shown));
  });
});

describe('the snippet that verifies signatures', () => {
  const SECRET = 'whsec_0123456789abcdef0123456789abcdef';
  const NOW = 1_796_040_000;
  const BODY = JSON.stringify({ skill: 'weather', input: { city: '東京' } });

  type Verify = (body: string | Uint8Array, header: unknown, secret: string, now?: number) => boolean;
  let folder: string;
  let copies = 0;
  let verify: Verify;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'omniroute-snippet-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  // Each test has a copy of its own, since it remembers what it has seen.
  beforeEach(async () => {
    const file = join(folder, `verify-${++copies}.mjs`);
    await writeFile(file, codeWith('js', 'verifySignature'));
    verify = ((await import(/* @vite-ignore */ file)) as { verifySignature: Verify }).verifySignature;
  });

  const sign = (body = BODY, time = NOW, secret = SECRET) => signBody(body, secret, new Date(time * 1_000));

  it('accepts a call of the gateway, as text or bytes, by its own clock or a given one', async () => {
    expect(verify(BODY, await sign(), SECRET, NOW)).toBe(true);
    expect(verify(new TextEncoder().encode(BODY), await sign(BODY, NOW + 1), SECRET, NOW)).toBe(true);
    expect(verify('', await sign('', Math.floor(Date.now() / 1_000)), SECRET)).toBe(true);
  });

  it.each([
    [-300, true],
    [-300.5, false],
    [300, true],
    [300.5, false],
    [-86_400, false],
    [86_400, false],
  ])('answers to a call whose receiver is %i s ahead: %s', async (seconds, accepted) => {
    expect(verify(BODY, await sign(), SECRET, NOW + seconds)).toBe(accepted);
  });

  it('accepts nothing twice while it is fresh, and other calls of the same second', async () => {
    const header = await sign();
    expect(verify(BODY, header, SECRET, NOW - 300)).toBe(true);
    for (const seconds of [-300, 0, 299, 300]) expect(verify(BODY, header, SECRET, NOW + seconds)).toBe(false);
    expect(verify(`${BODY} `, await sign(`${BODY} `), SECRET, NOW)).toBe(true);
  });

  it('does not remember what it refused, nor for ever what it accepted', async () => {
    const header = await sign();
    expect(verify(BODY, header, 'another secret', NOW)).toBe(false);
    expect(verify(BODY, header, SECRET, NOW)).toBe(true);
    // Far later, with the clock of this test alone: what was accepted has gone by then.
    expect(verify('x', await sign('x', NOW + 900), SECRET, NOW + 900)).toBe(true);
    expect(verify(BODY, header, SECRET, NOW)).toBe(true);
  });

  it('refuses what was altered', async () => {
    const header = await sign();
    const [, hex = ''] = header.split('v1=');
    const other = hex.startsWith('0') ? `1${hex.slice(1)}` : `0${hex.slice(1)}`;
    expect(verify(BODY.replace('東京', '京都'), header, SECRET, NOW)).toBe(false);
    expect(verify(`${BODY}\n`, header, SECRET, NOW)).toBe(false);
    expect(verify(BODY, header.replace(`t=${NOW}`, `t=${NOW + 1}`), SECRET, NOW)).toBe(false);
    expect(verify(BODY, `t=${NOW},v1=${other}`, SECRET, NOW)).toBe(false);
    expect(verify(BODY, header, `${SECRET}!`, NOW)).toBe(false);
  });

  it.each<[string, (header: string) => unknown]>([
    ['none', () => undefined],
    ['null', () => null],
    ['an empty one', () => ''],
    ['another scheme', (header) => header.replace('v1', 'v0')],
    ['no time', (header) => header.replace(/t=\d+,/, '')],
    ['capitals', (header) => header.toUpperCase().replace('T=', 't=').replace('V1=', 'v1=')],
    ['a digit less', (header) => header.slice(0, -1)],
    ['a digit more', (header) => `${header}0`],
    ['a line more', (header) => `${header}\n`],
    ['two', (header) => `${header}, ${header}`],
    ['a list', (header) => [header, header]],
    ['a huge time', (header) => header.replace(/t=\d+/, `t=${'9'.repeat(400)}`)],
  ])('refuses a header that is %s, and does not throw', async (_, change) => {
    expect(verify(BODY, change(await sign()), SECRET, NOW)).toBe(false);
  });
});
