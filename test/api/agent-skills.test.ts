import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_SKILL_CATEGORIES } from '../../src/agent-skills/agent-skill.ts';
import { AGENT_SKILL_COVERAGE, AGENT_SKILLS } from '../../src/agent-skills/generated/agent-skills.ts';
import type { JsonObject } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

/** As somebody without a key. */
const call = (path: string) => app.call(path, { as: null });
const request = (path: string, method = 'GET', headers: Record<string, string> = {}) => app.request(path, { as: null, method, headers });
const idsOf = (body: JsonObject) => (body.skills as JsonObject[]).map(({ id }) => id);
const idsWhere = (fits: (skill: (typeof AGENT_SKILLS)[number]) => boolean) => AGENT_SKILLS.filter(fits).map(({ id }) => id);

const ID = 'omniroute-guide-approvals';
const ALL = ['/api/agent-skills', '/api/agent-skills/coverage', `/api/agent-skills/${ID}`, `/api/agent-skills/${ID}/raw`];

describe('GET /api/agent-skills', () => {
  it('lists all texts without their Markdown, and how much they cover', async () => {
    const { status, body } = await call('/api/agent-skills');
    expect(status).toBe(200);
    expect(body).toEqual({
      skills: AGENT_SKILLS.map(({ markdown: _, ...skill }) => skill),
      count: AGENT_SKILLS.length,
      coverage: AGENT_SKILL_COVERAGE,
    });
    expect(body.count).toBeGreaterThan(10);
  });

  it.each(AGENT_SKILL_CATEGORIES)('narrows to the category %s', async (category) => {
    const { body } = await call(`/api/agent-skills?category=${category}`);
    expect(idsOf(body)).toEqual(idsWhere((skill) => skill.category === category));
    expect(body.count).toBe(idsOf(body).length);
    expect(body.coverage).toEqual(AGENT_SKILL_COVERAGE);
  });

  it('narrows to an area, over categories or in one', async () => {
    const { body } = await call('/api/agent-skills?area=approvals');
    expect(idsOf(body)).toEqual(['omniroute-api-approvals', 'omniroute-guide-approvals']);
    expect(idsOf((await call('/api/agent-skills?area=approvals&category=guide')).body)).toEqual(['omniroute-guide-approvals']);
  });

  it.each(['?area=weather', '?area=', '?area=SKILLS', '?area=__proto__', '?area=..%2F..%2Fetc'])('finds nothing in %s', async (query) => {
    const { status, body } = await call(`/api/agent-skills${query}`);
    expect([status, body.skills, body.count]).toEqual([200, [], 0]);
  });

  it.each([
    ['?category=weather', 'category: Invalid option: expected one of "api"|"mcp"|"cli"|"guide"'],
    ['?category=', 'category: Invalid option: expected one of "api"|"mcp"|"cli"|"guide"'],
    ['?category=API', 'category: Invalid option: expected one of "api"|"mcp"|"cli"|"guide"'],
    ['?category=__proto__', 'category: Invalid option: expected one of "api"|"mcp"|"cli"|"guide"'],
    [`?area=${'a'.repeat(65)}`, 'area: Too big: expected string to have <=64 characters'],
    ['?q=skills', 'Unrecognized key: "q"'],
  ])('refuses %s', async (query, error) => {
    const { status, body } = await call(`/api/agent-skills${query}`);
    expect([status, body.code, body.error]).toEqual([400, 'invalid_request', error]);
  });
});

describe('GET /api/agent-skills/:id', () => {
  it.each(AGENT_SKILLS.map((skill) => [skill.id, skill] as const))('answers %s, also as it stands', async (id, skill) => {
    expect(await call(`/api/agent-skills/${id}`)).toMatchObject({ status: 200, body: skill });
    const raw = await request(`/api/agent-skills/${id}/raw`);
    expect([raw.status, raw.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(await raw.text()).toBe(skill.markdown);
  });

  it('answers the coverage, which no text can be called', async () => {
    expect((await call('/api/agent-skills/coverage')).body).toEqual(AGENT_SKILL_COVERAGE);
    expect((await call('/api/agent-skills/coverage/raw')).status).toBe(404);
  });

  it.each([
    'weather',
    'OMNIROUTE-API-SKILLS',
    '__proto__',
    'constructor',
    '..%2F..%2Fpackage.json',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5C..%5Cwindows',
    `${ID}%00`,
    `${ID}%2Fraw`,
    `${ID}%20`,
    'a'.repeat(5_000),
  ])('knows no %s', async (id) => {
    for (const path of [`/api/agent-skills/${id}`, `/api/agent-skills/${id}/raw`]) {
      const { status, body, headers } = await call(path);
      expect([status, body.code]).toEqual([404, 'skill_not_found']);
      expect(body.error).toBe(`No agent skill with id ${decodeURIComponent(id)}`);
      expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, null]);
    }
  });

  it.each(['/api/agent-skills/../../etc/passwd', `/api/agent-skills/${ID}/raw/more`, `/api/agent-skills/${ID}/rawer`])(
    'has no endpoint %s',
    async (path) => {
      expect((await call(path)).body.code).toBe('not_found');
    },
  );

  it.each(['POST', 'PUT', 'DELETE'])('has nothing to %s', async (method) => {
    for (const path of ALL) expect((await request(path, method)).status).toBe(404);
  });
});

describe.each(ALL)('%s', (path) => {
  it('may be kept for five minutes under its tag, which stays the same', async () => {
    const [first, second] = [await request(path), await request(path)];
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.headers.get('etag')).toMatch(/^"[0-9a-f]{40}"$/);
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  it('asks for no key, and does not mind a wrong one', async () => {
    expect((await request(path, 'GET', { authorization: 'Bearer omr_wrong' })).status).toBe(200);
    expect((await app.request(`${path}?key=omr_wrong`, { as: null })).status).toBe(200);
  });

  it('answers HEAD with the same headers and nothing else', async () => {
    const [get, head] = [await request(path), await request(path, 'HEAD')];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['etag', 'cache-control', 'content-type']) expect(head.headers.get(name)).toBe(get.headers.get(name));
  });

  it.each([
    ['its tag', (tag: string) => tag, 304],
    ['its tag as a weak one', (tag: string) => `W/${tag}`, 304],
    ['a list that has it', (tag: string) => `"other", W/"more",${tag}`, 304],
    ['a star', () => '*', 304],
    ['other tags', () => '"other", W/"more"', 200],
    ['its tag without quotes', (tag: string) => tag.slice(1, -1), 200],
    ['a part of its tag', (tag: string) => `${tag.slice(0, -2)}"`, 200],
    ['nothing', () => '', 200],
  ])('compares %s', async (_, sent, status) => {
    const tag = (await request(path)).headers.get('etag') ?? '';
    for (const method of ['GET', 'HEAD']) {
      const answer = await request(path, method, { 'if-none-match': sent(tag) });
      expect(answer.status).toBe(status);
      expect([answer.headers.get('etag'), answer.headers.get('cache-control')]).toEqual([tag, 'public, max-age=300']);
      expect(answer.headers.get('x-omniroute-request-id')).toMatch(/./);
      if (status === 304) expect([await answer.text(), answer.headers.get('content-type')]).toEqual(['', null]);
    }
  });
});

it('gives each its own tag', async () => {
  const tags = await Promise.all([...ALL, '/api/agent-skills?category=mcp'].map(async (path) => (await request(path)).headers.get('etag')));
  expect(new Set(tags).size).toBe(tags.length);
});
