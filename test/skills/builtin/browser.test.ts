import { describe, expect, it } from 'vitest';
import { type BrowserRunRequest, type BrowserRunResult, browserRunRequest } from '../../../src/contract/browser-runs.ts';
import type { JsonObject } from '../../../src/json.ts';
import { browser } from '../../../src/skills/builtin/browser.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createSkillContext } from '../../support/skill-context.ts';

const URL = 'https://example.com/';

const resultOf = (change: object = {}) =>
  ({
    action: 'navigate',
    url: URL,
    title: 'Example',
    status: 200,
    text: null,
    truncated: false,
    screenshot: null,
    ...change,
  }) as const;

/** A browser that answers each run with `change` of an empty result and keeps what it was sent, read as the host reads it. */
function createRecordingBrowser(change: Partial<BrowserRunResult> = {}) {
  const requests: BrowserRunRequest[] = [];
  const context = createSkillContext({
    browser: {
      async browse(request) {
        const parsed = browserRunRequest.parse(request);
        requests.push(parsed);
        const ended = { timedOut: false, oomKilled: false, killed: false, durationMs: 5, queuedMs: 0 };
        return { id: parsed.id, results: [resultOf({ text: 'Hello' })], error: null, ...ended, ...change };
      },
    },
  });
  return { requests, context };
}

const stepsOf = async (input: JsonObject) => {
  const { requests, context } = createRecordingBrowser();
  await callSkill(browser, input, context);
  return requests[0]?.steps;
};

describe('browser', () => {
  it.each<[JsonObject, string]>([
    [{}, 'Missing required field: action'],
    [{ action: null }, 'Missing required field: action'],
    [{ url: URL }, 'Missing required field: action'],
    [{ action: 'fly' }, 'Unknown action: fly'],
    [{ action: 'navigate' }, 'Missing required field: url'],
    [{ action: 'navigate', url: 'nowhere' }, 'url: Invalid URL'],
    [{ action: 'click', selector: '#a' }, 'Missing required field: url'],
    [{ action: 'click', url: URL }, 'Missing required field: selector'],
    [{ action: 'type', url: URL, selector: '#a' }, 'Missing required field: text'],
    [{ action: 'type', url: URL, text: 'x' }, 'Missing required field: selector'],
    [{ action: 'screenshot' }, 'Missing required field: url'],
    [{ action: 'extract' }, 'Missing required field: url'],
    [{ steps: [{ url: URL }] }, 'Missing required field: action'],
    [{ steps: [{ action: 'fly' }] }, 'Unknown action: fly'],
    [{ url: URL, steps: [{ action: 'click' }] }, 'Step 2: Missing required field: selector'],
    [{ steps: [{ action: 'extract' }, { action: 'navigate', url: URL }] }, 'Missing required field: url'],
    [{ steps: [{ action: 'navigate', url: 'nowhere' }] }, 'steps.0.url: Invalid URL'],
    [{ action: 'navigate', url: URL, timeoutMs: 60_001 }, 'timeoutMs: Too big: expected number to be <=60000'],
  ])('answers %j with its error', async (input, message) => {
    const { context, requests } = createRecordingBrowser();
    await expect(callSkill(browser, input, context)).rejects.toEqual(new SkillError(message));
    expect(requests).toEqual([]);
  });

  it.each([
    'file:///etc/passwd',
    'chrome://version',
    'view-source:https://example.com/',
    'data:text/html,hello',
    'javascript:alert(1)',
    'about:blank',
    'ftp://example.com/',
    'https://user:secret@example.com/',
    'http://localhost/',
    'http://127.0.0.1:8890/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://router.local/',
  ])('refuses to open %s', async (url) => {
    const { context, requests } = createRecordingBrowser();
    await expect(callSkill(browser, { action: 'navigate', url }, context)).rejects.toEqual(new SkillError('Blocked private or local URL'));
    const later = { action: 'navigate', url: URL, steps: [{ action: 'screenshot', url }] };
    await expect(callSkill(browser, later, context)).rejects.toEqual(new SkillError('Step 2: Blocked private or local URL'));
    expect(requests).toEqual([]);
  });

  it('sends one action as one step', async () => {
    expect(await stepsOf({ action: 'navigate', url: 'https://example.com.' })).toEqual([{ action: 'navigate', url: URL }]);
    expect(await stepsOf({ action: 'click', url: URL, selector: '#a' })).toEqual([{ action: 'click', url: URL, selector: '#a' }]);
    const type = { action: 'type', url: URL, selector: '#a', text: '' };
    expect(await stepsOf(type)).toEqual([type]);
    expect(await stepsOf({ action: 'extract', url: URL, selector: null })).toEqual([{ action: 'extract', url: URL }]);
  });

  it('sends steps in their order, after what stands beside them', async () => {
    const steps = [
      { action: 'type', selector: '#q', text: 'edge\n', url: null },
      { action: 'extract', selector: null },
    ];
    const expected = [{ action: 'type', selector: '#q', text: 'edge\n' }, { action: 'extract' }];
    expect(await stepsOf({ url: URL, steps })).toEqual([{ action: 'navigate', url: URL }, ...expected]);
    expect(await stepsOf({ action: 'click', url: URL, selector: '#open', steps })).toEqual([
      { action: 'click', url: URL, selector: '#open' },
      ...expected,
    ]);
  });

  it('asks under the execution’s id, with the limits that hold', async () => {
    const { requests, context } = createRecordingBrowser();
    await callSkill(browser, { action: 'extract', url: URL }, context);
    await callSkill(browser, { action: 'extract', url: URL, timeoutMs: 500 }, context);
    expect(requests).toMatchObject([
      { id: context.executionId, timeoutMs: 60_000, maxTextChars: 100_000 },
      { id: context.executionId, timeoutMs: 500, maxTextChars: 100_000 },
    ]);
  });

  it('answers with the last step, and the others beside it', async () => {
    const results = [resultOf({ action: 'extract', text: 'one' }), resultOf({ action: 'screenshot', screenshot: 'cG5n' })];
    const { context } = createRecordingBrowser({ results });
    expect(await callSkill(browser, { action: 'navigate', url: URL }, context)).toEqual({
      success: true,
      ...results[1],
      steps: [results[0]],
    });
  });

  it.each<[Partial<BrowserRunResult>, string]>([
    [{ results: [], error: 'Selector not found: #a' }, 'Selector not found: #a'],
    [{ results: [], timedOut: true, killed: true }, 'Timed out after 60000 ms'],
    [{ results: [], oomKilled: true }, 'The browser ran out of memory'],
    [{ results: [], killed: true }, 'The browser was ended'],
    [{ results: [] }, 'The browser was ended'],
  ])('takes %j for a failure', async (change, message) => {
    const { context } = createRecordingBrowser(change);
    await expect(callSkill(browser, { action: 'navigate', url: URL }, context)).rejects.toEqual(new SkillError(message));
  });
});
