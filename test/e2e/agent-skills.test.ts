import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_SKILLS } from '../../src/agent-skills/generated/agent-skills.ts';
import { differenceFromClaim, examplesOf, readCurl } from '../support/read-examples.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

it('are served by the worker as they were written', async () => {
  for (const { id, markdown } of AGENT_SKILLS) {
    const response = await fetch(`${stack.url}/api/agent-skills/${id}/raw`);
    expect(await response.text()).toBe(markdown);
    const tag = response.headers.get('etag') ?? '';
    expect((await fetch(response.url, { headers: { 'if-none-match': tag } })).status).toBe(304);
  }
});

it.each(['omniroute-guide-sandbox', 'omniroute-api-executions'])('the commands of %s are answered as it says', async (id) => {
  const markdown = AGENT_SKILLS.find((skill) => skill.id === id)?.markdown ?? '';
  const values = { URL: stack.url, API_KEY: stack.apiKey, MANAGEMENT_TOKEN: stack.managementToken };
  let seen = '';
  for (const { command, claim = '' } of examplesOf(markdown)) {
    const { method, path, headers, body } = await readCurl(command, { ...values, EXECUTION_ID: seen });
    const response = await fetch(`${stack.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const copy = response.clone();
    expect(await differenceFromClaim(claim, response), command).toBeUndefined();
    const { execution } = (await copy.json()) as { execution?: { id: string } };
    seen = execution?.id ?? seen;
  }
  expect(seen).not.toBe('');
});
