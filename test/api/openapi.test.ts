import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

it('is valid OpenAPI 3.1', async () => {
  const { status, body } = await app.call('/openapi.json', { as: null });
  expect(status).toBe(200);
  const result = await new Validator().validate(body);
  expect(result).toMatchObject({ valid: true });
});
