import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from '../../dev/bundle-worker.ts';
import { workerVariables } from '../../dev/stack/bindings.ts';
import { curlLine, exampleRequest } from '../../dev/stack/example-request.ts';

describe('workerVariables', () => {
  it("takes what is the worker's, and the keys that PROVIDERS names", () => {
    const env = {
      OPENAI_API_KEY: 'a',
      ANTHROPIC_BASE_URL: '',
      SKILLS_SANDBOX_TIMEOUT_MS: '5',
      LIBSQL_AUTH_TOKEN: 'b',
      PROVIDERS: '[{"name":"x","apiKeySecret":"X_KEY"},{"name":"y"},null]',
      X_KEY: 'c',
      PATH: '/bin',
      PORT: '1',
    };
    expect(workerVariables(env)).toEqual({
      OPENAI_API_KEY: 'a',
      SKILLS_SANDBOX_TIMEOUT_MS: '5',
      LIBSQL_AUTH_TOKEN: 'b',
      PROVIDERS: env.PROVIDERS,
      X_KEY: 'c',
    });
  });

  it('leaves it to the worker to say what is wrong with PROVIDERS', () => {
    expect(workerVariables({ PROVIDERS: '{' })).toEqual({ PROVIDERS: '{' });
  });
});

describe('exampleRequest', () => {
  it.each([
    [{}, true, '/v1/chat/completions', 'scripted-demo'],
    [{ OPENAI_API_KEY: 'x' }, false, '/v1/chat/completions', 'gpt-5-mini'],
    [{ ANTHROPIC_API_KEY: 'x' }, false, '/v1/messages', 'claude-sonnet-4-5'],
  ])('for %j asks the right endpoint', (env, isScripted, path, model) => {
    expect(exampleRequest(env, isScripted)).toMatchObject({ path, body: { model } });
  });

  it.each([
    ['openai', 'm-1', '/v1/chat/completions', 'm-1'],
    ['openai-responses', 'm-1', '/v1/responses', 'm-1'],
    ['anthropic', 'm-1', '/v1/messages', 'm-1'],
    ['gemini', 'org/m(1)', '/v1beta/models/org%2Fm%281%29:generateContent', undefined],
  ])('asks a provider of format %s for the model that it lists in full', (format, model, path, inBody) => {
    const PROVIDERS = JSON.stringify([
      { format, models: [] },
      { format, models: ['x-*', model] },
    ]);
    const { path: asked, body } = exampleRequest({ OPENAI_API_KEY: 'x', PROVIDERS }, false) ?? { body: {} };
    expect(asked).toBe(path);
    expect((body as { model?: string }).model).toBe(inBody);
  });

  it.each(['{', '{}', '[null, {"models": 1}, {"format": "other", "models": ["m"]}, {"format": "openai", "models": ["m-*"]}]'])(
    'makes nothing of PROVIDERS %s',
    (PROVIDERS) => {
      expect(exampleRequest({ PROVIDERS }, false)).toBeUndefined();
    },
  );

  it('asks Gemini in its own shape, and nobody whose models are unknown', () => {
    expect(exampleRequest({ GEMINI_API_KEY: 'x' }, false)?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(exampleRequest({ PROVIDERS: '[{}]' }, false)).toBeUndefined();
  });

  it('quotes what a shell would read', async () => {
    const line = curlLine('http://127.0.0.1:1', 'omr_k', { path: '/v1/x', body: { a: "it's $HOME" } });
    const { stdout } = await promisify(execFile)('sh', ['-c', line.replace('curl', 'printf %s\\\\n')]);
    expect(stdout).toContain(`\n{"a":"it's $HOME"}\n`);
  });

  it('is a line that a shell reads as one command', () => {
    const line = curlLine('http://127.0.0.1:1', 'omr_k', { path: '/v1/x', body: { a: 'b c' } });
    expect(line).toBe(
      `curl -sN http://127.0.0.1:1/v1/x -H 'authorization: Bearer omr_k' -H 'content-type: application/json' -d '{"a":"b c"}'`,
    );
  });
});

describe('wrangler.toml', () => {
  it('has the compatibility date and flags that Miniflare and the benchmarks use', () => {
    const text = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
    expect(text).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`);
    expect(text).toContain(`compatibility_flags = ${JSON.stringify(COMPATIBILITY_FLAGS)}`);
  });
});
