import * as z from 'zod';
import {
  BROWSER_ACTIONS,
  type BrowserStep,
  MAX_BROWSER_STEPS,
  MAX_BROWSER_TEXT_CHARS,
  MAX_BROWSER_TIMEOUT_MS,
} from '../../contract/browser-runs.ts';
import { checkPublicUrl } from '../../net/public-url.ts';
import { defineSkill, SkillError } from '../define.ts';
import { choice } from './input-fields.ts';

/** The time to wait for a place and to start a browser. */
const OVERHEAD_MS = 15_000;

const action = choice(BROWSER_ACTIONS, { unknown: 'Unknown action', required: 'Missing required field: action' });
const step = z.object({
  action,
  url: z.url().nullish(),
  selector: z.string().nullish(),
  text: z.string().nullish(),
});
type Step = z.output<typeof step>;

const missing = (field: string): never => {
  throw new SkillError(`Missing required field: ${field}`);
};

const openable = (url: string): string => {
  const checked = checkPublicUrl(new URL(url));
  if (checked === undefined) throw new SkillError('Blocked private or local URL');
  return checked.url.href;
};

/** A step as the sandbox-host takes it. Throws a SkillError that says what it lacks. */
function toBrowserStep({ action, ...given }: Step): BrowserStep {
  const url = given.url ? { url: openable(given.url) } : {};
  const selector = given.selector ? { selector: given.selector } : {};
  switch (action) {
    case 'navigate':
      return { action, url: url.url ?? missing('url') };
    case 'click':
      return { action, ...url, selector: selector.selector ?? missing('selector') };
    case 'type':
      return { action, ...url, selector: selector.selector ?? missing('selector'), text: given.text ?? missing('text') };
    case 'screenshot':
    case 'extract':
      return { action, ...url, ...selector };
  }
}

function toBrowserSteps(steps: readonly Step[]): BrowserStep[] {
  const converted = steps.map((each, index) => {
    try {
      return toBrowserStep(each);
    } catch (error) {
      if (!(error instanceof SkillError) || steps.length === 1) throw error;
      throw new SkillError(`Step ${index + 1}: ${error.message}`);
    }
  });
  if (converted[0]?.url === undefined) missing('url');
  return converted;
}

const stepOutput = {
  action: z.enum(BROWSER_ACTIONS),
  url: z.string().describe('Of the page after the action.'),
  title: z.string(),
  status: z.int().nullable().describe('HTTP status of the page.'),
  text: z.string().nullable().describe('What a reader sees of the page, or of the elements of extract.'),
  truncated: z.boolean().describe('Whether the text goes on.'),
  screenshot: z.string().nullable().describe('PNG as base64.'),
};

export const browser = defineSkill({
  name: 'browser',
  version: '1.0.0',
  description:
    'Drive a web browser: open a public page, click, type, take a screenshot or extract text. Each call has a fresh browser; use steps to do several things on one page.',
  tags: ['browser', 'web', 'automation'],
  mode: 'off',
  policy: 'manual',
  idempotent: false,
  timeoutMs: MAX_BROWSER_TIMEOUT_MS + OVERHEAD_MS,
  input: z.object({
    action: action.optional().describe('What to do, unless steps say it.'),
    url: z.url().optional().describe('Page to open first.'),
    selector: z.string().optional().describe('CSS selector of the element; for click, type, screenshot and extract.'),
    text: z.string().optional().describe('Text to type; a line break at its end presses Enter.'),
    steps: z.array(step).min(1).max(MAX_BROWSER_STEPS).optional().describe('Actions to do one after the other, after any above.'),
    timeoutMs: z.int().min(1).max(MAX_BROWSER_TIMEOUT_MS).default(MAX_BROWSER_TIMEOUT_MS).describe('Longest time for everything.'),
  }),
  output: z.object({
    success: z.literal(true),
    ...stepOutput,
    steps: z.array(z.object(stepOutput)).describe('What came of the steps before the last one, whose result stands above.'),
  }),
  async execute({ action, steps = [], timeoutMs, ...first }, { browser, executionId, limits, signal }) {
    if (action === undefined && steps.length === 0) missing('action');
    const begin = action ?? (first.url === undefined ? undefined : 'navigate');
    const all = begin === undefined ? steps : [{ action: begin, ...first }, ...steps];
    const maxTextChars = Math.min(limits.maxSandboxOutputChars, MAX_BROWSER_TEXT_CHARS);
    const result = await browser.browse({ id: executionId, steps: toBrowserSteps(all), timeoutMs, maxTextChars }, { signal });
    if (result.timedOut) throw new SkillError(`Timed out after ${timeoutMs} ms`);
    if (result.oomKilled) throw new SkillError('The browser ran out of memory');
    if (result.error !== null) throw new SkillError(result.error);
    const last = result.results.at(-1);
    if (last === undefined || result.killed) throw new SkillError('The browser was ended');
    return { success: true, ...last, steps: result.results.slice(0, -1) };
  },
});
