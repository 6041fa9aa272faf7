import * as z from 'zod';
import { runId } from './runs.ts';

export const BROWSER_RUNS_PATH = '/v1/browser-runs';

/** How every refusal begins that says why there is no browser. */
export const BROWSER_DISABLED = 'Browser automation skill is disabled.';
/** What is to be done where nobody has set a browser up. */
export const BROWSER_NOT_CONFIGURED = `${BROWSER_DISABLED} Set BROWSER_IMAGE on a sandbox-host to enable it; until then read pages with http_request.`;

export const BROWSER_ACTIONS = ['navigate', 'click', 'type', 'screenshot', 'extract'] as const;

/** Longest browser run, in milliseconds. */
export const MAX_BROWSER_TIMEOUT_MS = 60_000;
export const MAX_BROWSER_STEPS = 50;
/** Bytes of the PNGs of one run together: as base64 they fit into what is kept of a skill's output. */
export const MAX_SCREENSHOT_BYTES = 2_621_440;
/** UTF-16 units of the texts of one run together. */
export const MAX_BROWSER_TEXT_CHARS = 1_000_000;
/** Longest answer: JSON takes up to 6 bytes for a character, base64 4 for 3. */
export const MAX_BROWSER_ANSWER_BYTES = 16_777_216;

const url = z.url({ protocol: /^https?$/ }).max(8_192);
const selector = z.string().min(1).max(4_096);

/** One step. A `url` is opened before anything else is done. */
export const browserStep = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('navigate'), url }),
  z.strictObject({ action: z.literal('click'), url: url.optional(), selector }),
  z.strictObject({ action: z.literal('type'), url: url.optional(), selector, text: z.string().max(100_000) }),
  z.strictObject({ action: z.literal('screenshot'), url: url.optional(), selector: selector.optional() }),
  z.strictObject({ action: z.literal('extract'), url: url.optional(), selector: selector.optional() }),
]);

/** One run of a fresh browser in a container of its own. The same id sent again gets the same run. */
export const browserRunRequest = z.strictObject({
  id: runId,
  steps: z
    .array(browserStep)
    .min(1)
    .max(MAX_BROWSER_STEPS)
    .refine(([first]) => first?.url !== undefined, 'The first step needs a url'),
  timeoutMs: z.int().min(1).max(MAX_BROWSER_TIMEOUT_MS).default(MAX_BROWSER_TIMEOUT_MS),
  /** UTF-16 units of all texts together. */
  maxTextChars: z.int().min(1).max(MAX_BROWSER_TEXT_CHARS).default(100_000),
});

export const browserStepResult = z.strictObject({
  action: z.enum(BROWSER_ACTIONS),
  /** Of the page after the step. */
  url: z.string().max(8_192),
  title: z.string().max(1_000),
  /** HTTP status of the page. */
  status: z.int().nullable(),
  /** Of `extract`, and of the last step unless it is a screenshot. */
  text: z.string().max(MAX_BROWSER_TEXT_CHARS).nullable(),
  /** Whether the text went on. */
  truncated: z.boolean(),
  /** PNG as base64. */
  screenshot: z.base64().nullable(),
});

/** What the browser's driver says: the results of the steps that succeeded, and why the next one did not. */
export const browserOutcome = z.strictObject({
  results: z.array(browserStepResult).max(MAX_BROWSER_STEPS),
  error: z.string().max(1_000).nullable(),
});

export const browserRunResult = browserOutcome.extend({
  id: runId,
  timedOut: z.boolean(),
  oomKilled: z.boolean(),
  /** Whether the host ended the run: at its timeout, or because it was asked to. */
  killed: z.boolean(),
  /** From the browser's start to the end. */
  durationMs: z.number(),
  queuedMs: z.number(),
});

export type BrowserStep = z.infer<typeof browserStep>;
/** What a caller sends: fields with a default may be left out. */
export type BrowserRunRequestInput = z.input<typeof browserRunRequest>;
export type BrowserRunRequest = z.infer<typeof browserRunRequest>;
export type BrowserStepResult = z.infer<typeof browserStepResult>;
export type BrowserOutcome = z.infer<typeof browserOutcome>;
export type BrowserRunResult = z.infer<typeof browserRunResult>;
