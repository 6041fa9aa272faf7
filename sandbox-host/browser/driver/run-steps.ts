import { errors, type Locator } from 'playwright-core';
import type { BrowserOutcome, BrowserStep, BrowserStepResult } from '../../../src/contract/browser-runs.ts';
import type { NavigationWatcher } from './navigation-watcher.ts';
import { StepError } from './step-error.ts';

export interface StepLimits {
  /** Of all texts together, in UTF-16 units. */
  maxTextChars: number;
  /** Of all screenshots together. */
  maxScreenshotBytes: number;
}

export interface StepTools {
  watcher: NavigationWatcher;
  limits: StepLimits;
  /** Why the sandbox-host let no connection to this URL through, if it did not. */
  explainRefusal(url: string): string | undefined;
}

const NAVIGATION_TIMEOUT_MS = 30_000;
const ELEMENT_TIMEOUT_MS = 5_000;
/** How long a page may go on loading before it is taken as it is. */
const LOAD_TIMEOUT_MS = 10_000;
const QUIET_TIMEOUT_MS = 2_000;
const MAX_URL_CHARS = 8_192;
const MAX_TITLE_CHARS = 1_000;
const MAX_ERROR_CHARS = 900;

const ignoreTimeout = (error: unknown) => {
  if (!(error instanceof errors.TimeoutError)) throw error;
};

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

function navigationError(error: unknown, url: string, tools: StepTools): StepError {
  const refusal = tools.explainRefusal(tools.watcher.takeFailed() ?? url);
  if (refusal !== undefined) return new StepError(refusal);
  if (error instanceof errors.TimeoutError) return new StepError(`The page did not load within ${NAVIGATION_TIMEOUT_MS} ms: ${url}`);
  if (/download is starting/i.test(firstLine(error))) return new StepError(`Downloads are not possible: ${url}`);
  return new StepError(`Navigation failed: ${/net::\w+/.exec(firstLine(error))?.[0] ?? firstLine(error)}`);
}

/** Waits until the page has loaded and is quiet, but not for ever. */
async function settle(tools: StepTools): Promise<void> {
  const { watcher } = tools;
  await watcher.idle(NAVIGATION_TIMEOUT_MS);
  const failed = watcher.takeFailed();
  if (failed !== undefined) {
    const refusal = tools.explainRefusal(failed);
    if (refusal !== undefined) throw new StepError(refusal);
  }
  await watcher.page.waitForLoadState('load', { timeout: LOAD_TIMEOUT_MS }).catch(ignoreTimeout);
  await watcher.page.waitForLoadState('networkidle', { timeout: QUIET_TIMEOUT_MS }).catch(ignoreTimeout);
}

async function open(url: string, tools: StepTools): Promise<void> {
  tools.watcher.takeFailed();
  try {
    await tools.watcher.page.goto(url, { waitUntil: 'domcontentloaded', timeout: NAVIGATION_TIMEOUT_MS });
  } catch (error) {
    throw navigationError(error, url, tools);
  }
  await settle(tools);
}

/** The elements of a selector, at least one of which is there. */
async function find(selector: string, { watcher }: StepTools): Promise<Locator> {
  const all = watcher.page.locator(`css=${selector}`);
  try {
    await all.count();
  } catch (error) {
    if (watcher.hasCrashed) throw error;
    throw new StepError(`Invalid selector: ${selector}`);
  }
  try {
    await all.first().waitFor({ state: 'attached', timeout: ELEMENT_TIMEOUT_MS });
  } catch (error) {
    ignoreTimeout(error);
    throw new StepError(`Selector not found: ${selector}`);
  }
  return all;
}

async function click(selector: string, tools: StepTools): Promise<void> {
  const element = (await find(selector, tools)).first();
  try {
    await element.click({ timeout: ELEMENT_TIMEOUT_MS });
  } catch (error) {
    ignoreTimeout(error);
    throw new StepError(`Element cannot be clicked: ${selector}`);
  }
  await settle(tools);
}

async function type(selector: string, text: string, tools: StepTools): Promise<void> {
  const element = (await find(selector, tools)).first();
  const presses = text.endsWith('\n');
  try {
    await element.fill(presses ? text.slice(0, -1) : text, { timeout: ELEMENT_TIMEOUT_MS });
    if (presses) await element.press('Enter', { timeout: ELEMENT_TIMEOUT_MS });
  } catch (error) {
    if (tools.watcher.hasCrashed) throw error;
    throw new StepError(`Element cannot be typed into: ${selector}`);
  }
  await settle(tools);
}

/** Runs in the page. */
const readText = (elements: { innerText?: string; textContent: string | null }[], maxChars: number): string =>
  elements
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden on the page is no text of it
    .map((element) => element.innerText ?? element.textContent ?? '')
    .join('\n')
    .slice(0, maxChars);

/** The text that a reader sees, of the page or of all elements of a selector. */
async function extract(selector: string | undefined, maxChars: number, tools: StepTools): Promise<{ text: string; truncated: boolean }> {
  const elements = selector === undefined ? tools.watcher.page.locator('body') : await find(selector, tools);
  // One character more than is kept tells whether it goes on.
  const text = await elements.evaluateAll(readText, maxChars + 1);
  return { text: text.slice(0, maxChars).toWellFormed(), truncated: text.length > maxChars };
}

async function capture(selector: string | undefined, tools: StepTools): Promise<Buffer> {
  const options = { type: 'png', timeout: ELEMENT_TIMEOUT_MS, animations: 'disabled' } as const;
  try {
    return await (selector === undefined ? tools.watcher.page : (await find(selector, tools)).first()).screenshot(options);
  } catch (error) {
    ignoreTimeout(error);
    throw new StepError(`No screenshot could be taken${selector === undefined ? '' : ` of ${selector}`}`);
  }
}

/** Does what one step asks for. Resolves to its screenshot, if it makes one. */
async function act(step: BrowserStep, tools: StepTools): Promise<Buffer | undefined> {
  if (step.url !== undefined) await open(step.url, tools);
  switch (step.action) {
    case 'click':
      await tools.watcher.followNewPages(() => click(step.selector, tools));
      return undefined;
    case 'type':
      await tools.watcher.followNewPages(() => type(step.selector, step.text, tools));
      return undefined;
    case 'screenshot':
      return capture(step.selector, tools);
    case 'navigate':
    case 'extract':
      return undefined;
  }
}

/** How many characters of text and bytes of screenshots may still come. */
interface Room {
  chars: number;
  bytes: number;
}

async function runStep(step: BrowserStep, isLast: boolean, room: Room, tools: StepTools): Promise<BrowserStepResult> {
  const { watcher, limits } = tools;
  const screenshot = await act(step, tools);
  room.bytes -= screenshot?.length ?? 0;
  if (room.bytes < 0) throw new StepError(`The screenshots exceed the ${limits.maxScreenshotBytes} byte limit`);
  const wantsText = step.action === 'extract' || (isLast && screenshot === undefined);
  const { text, truncated } = wantsText
    ? await extract(step.action === 'extract' ? step.selector : undefined, room.chars, tools)
    : { text: null, truncated: false };
  room.chars -= text?.length ?? 0;
  const url = watcher.page.url();
  if (!/^(https?:|about:blank$)/.test(url)) throw new StepError('Only pages of http and https can be opened');
  return {
    action: step.action,
    url: url.slice(0, MAX_URL_CHARS),
    title: (await watcher.page.title()).slice(0, MAX_TITLE_CHARS).toWellFormed(),
    status: watcher.status,
    text,
    truncated,
    screenshot: screenshot?.toString('base64') ?? null,
  };
}

function describe(error: unknown, { watcher }: StepTools): string {
  if (error instanceof StepError) return error.message;
  if (watcher.hasCrashed) return 'The page crashed';
  return firstLine(error);
}

/** Runs the steps one after the other, up to the first that fails. Never rejects. */
export async function runSteps(steps: readonly BrowserStep[], tools: StepTools): Promise<BrowserOutcome> {
  const results: BrowserStepResult[] = [];
  const room = { chars: tools.limits.maxTextChars, bytes: tools.limits.maxScreenshotBytes };
  for (const [index, step] of steps.entries()) {
    try {
      results.push(await runStep(step, index === steps.length - 1, room, tools));
    } catch (error) {
      const place = steps.length > 1 ? `Step ${index + 1}: ` : '';
      return { results, error: `${place}${describe(error, tools)}`.slice(0, MAX_ERROR_CHARS).toWellFormed() };
    }
  }
  return { results, error: null };
}
