import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS as ALL_DEFAULTS, toPublicSettings } from '../../src/settings.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

const DEFAULT_SETTINGS = toPublicSettings(ALL_DEFAULTS);

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

const put = (json: Record<string, string | number | boolean | null | []>) => app.call('/api/settings', { method: 'PUT', json });

describe('GET /api/settings', () => {
  it('answers the defaults before anything is set', async () => {
    expect(await app.call('/api/settings')).toMatchObject({ status: 200, body: DEFAULT_SETTINGS });
  });
});

describe('PUT /api/settings', () => {
  it('changes what it names and answers all', async () => {
    await put({ autoMaxSkills: 7 });
    const { status, body } = await put({ autoMinScore: 4, skillsEnabled: false });
    expect([status, body]).toEqual([200, { ...DEFAULT_SETTINGS, autoMaxSkills: 7, autoMinScore: 4, skillsEnabled: false }]);
    expect((await app.call('/api/settings')).body).toEqual(body);
  });

  it('holds at once in this isolate', async () => {
    const waitUntil = (work: Promise<unknown>) => void work;
    expect((await app.services.settings.get(waitUntil)).maxRounds).toBe(10);
    await put({ maxRounds: 2 });
    expect((await app.services.settings.get(waitUntil)).maxRounds).toBe(2);
  });

  it('needs something to change', async () => {
    expect(await put({})).toMatchObject({ status: 400, body: { error: 'No update payload provided', code: 'invalid_request' } });
  });

  it.each([
    { skillsEnabled: 'false' },
    { skillsEnabled: null },
    { resultMode: 'both' },
    { autoMinScore: 0 },
    { autoMinScore: 1.5 },
    { autoMaxSkills: 65 },
    { maxRounds: '5' },
    { loopTimeoutMs: 999 },
    { workspaceMaxBytes: -1 },
    { workspaceMaxBytes: 1e300 },
    { skillsProvider: 'elsewhere' },
    { skillsmpApiKey: '' },
    { skillsmpApiKey: 'two words' },
    { skillsmpApiKey: 'line\nbreak' },
    { skillsmpBaseUrl: 'skillsmp.com' },
    { skillsshBaseUrl: 'ftp://skills.sh' },
    { skillsshBaseUrl: 'https://user:secret@skills.sh' },
    { githubRawBaseUrl: 'https://raw.example/?token=secret' },
    { githubRawBaseUrl: 'https://raw.example/#x' },
    { executionRetentionDays: [] as [] },
  ])('refuses %j and changes nothing', async (json) => {
    const { status, body } = await put({ autoMaxSkills: 9, ...json });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect((body.details as { path: string }[])[0]?.path).toBe(Object.keys(json)[0]);
    expect((await app.call('/api/settings')).body).toEqual(DEFAULT_SETTINGS);
  });

  it('takes a secret that it never shows, and takes it away again', async () => {
    expect((await put({ skillsmpApiKey: 'sk-secret' })).body).toEqual({ ...DEFAULT_SETTINGS, skillsmpApiKeySet: true });
    const refused = await put({ skillsmpApiKey: 'sk-bad secret' });
    expect([refused.status, JSON.stringify([refused.body, app.entries])]).toEqual([400, expect.not.stringContaining('sk-')]);
    expect((await app.services.settings.load()).skillsmpApiKey).toBe('sk-secret');
    expect(await put({ skillsmpApiKeySet: false })).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await put({ skillsmpApiKey: null })).body).toEqual(DEFAULT_SETTINGS);
  });
});
