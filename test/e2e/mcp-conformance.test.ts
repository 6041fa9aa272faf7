import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';

const CONFORMANCE = join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

const PASSING = [
  'dns-rebinding-protection',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'server-sse-polling',
  'tools-list',
];

interface Reason {
  why: string;
  /** What the suite then says. */
  says: RegExp;
}

const noFeature = (why: string): Reason => ({ why, says: /Method not found/ });
const NO_RESOURCES = noFeature('The server has no resources, and declares none');
const NO_PROMPTS = noFeature('The server has no prompts, and declares none');
const NO_LOGGING = noFeature('The server logs for its operator; clients get results and progress');
const NO_COMPLETIONS = noFeature('Completions are for arguments of prompts and resource templates, of which there are none');
const OTHER_TOOLS: Reason = {
  why: 'The scenario calls tools that only a server made for the suite has; what it is about is tested with tools of ours, where there is something like it',
  says: /Unknown tool: test_|Tool 'json_schema_2020_12_tool' not found/,
};

/** The scenarios that cannot apply. One that is not here has to pass, one that is here has to fail in the way that its reason says. */
const NOT_APPLICABLE: Record<string, Reason> = {
  'completion-complete': NO_COMPLETIONS,
  'elicitation-sep1034-defaults': OTHER_TOOLS,
  'elicitation-sep1330-enums': OTHER_TOOLS,
  'json-schema-2020-12': OTHER_TOOLS,
  'logging-set-level': NO_LOGGING,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'prompts-list': NO_PROMPTS,
  'resources-list': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-read-text': NO_RESOURCES,
  'resources-subscribe': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
  'resources-unsubscribe': NO_RESOURCES,
  'tools-call-audio': OTHER_TOOLS,
  'tools-call-elicitation': OTHER_TOOLS,
  'tools-call-embedded-resource': OTHER_TOOLS,
  'tools-call-error': OTHER_TOOLS,
  'tools-call-image': OTHER_TOOLS,
  'tools-call-mixed-content': OTHER_TOOLS,
  'tools-call-sampling': OTHER_TOOLS,
  'tools-call-simple-text': OTHER_TOOLS,
  'tools-call-with-logging': NO_LOGGING,
  'tools-call-with-progress': OTHER_TOOLS,
};

interface Check {
  status: string;
  errorMessage?: string;
}

interface Outcome {
  failures: string[];
}

/** Runs the official suite against a server: what became of each scenario, by its name. */
async function runSuite(url: string): Promise<Map<string, Outcome>> {
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-conformance-'));
  try {
    const options = ['server', '--url', url, '--suite', 'all', '--output-dir', folder];
    const child = spawn(process.execPath, [CONFORMANCE, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    const names = [...stdout.matchAll(/^[✓✗] ([\w-]+): /gm)].map(([, name]) => name as string);
    if (names.length === 0) throw new Error(`The suite did not run:\n${stdout}\n${stderr}`);
    const outcomes = names.map((name): [string, Outcome] => {
      // The folder's name goes on with the time.
      const result = readdirSync(folder).find((entry) => entry.replace(/-\d{4}-\d\d-\d\dT.*$/, '') === `server-${name}`) ?? '';
      const checks = JSON.parse(readFileSync(join(folder, result, 'checks.json'), 'utf8')) as Check[];
      return [name, { failures: checks.filter(({ status }) => status === 'FAILURE').map(({ errorMessage }) => errorMessage ?? 'failed') }];
    });
    return new Map(outcomes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

describe.each(['/mcp', '/mcp?expose=skills'])('the official conformance suite at %s', (path) => {
  let outcomes: Map<string, Outcome>;
  beforeAll(async () => {
    const url = new URL(path, stack.url);
    // The suite sends no headers of its own.
    url.searchParams.set('key', stack.apiKey);
    outcomes = await runSuite(url.href);
  });

  it('passes, but for the scenarios that are known not to apply', () => {
    const failing = [...outcomes].filter(([, { failures }]) => failures.length > 0).map(([name]) => name);
    expect(failing.sort()).toEqual(Object.keys(NOT_APPLICABLE).sort());
    expect([...outcomes.keys()].filter((name) => !failing.includes(name)).sort()).toEqual(PASSING);
  });

  it.each(Object.entries(NOT_APPLICABLE))('does not pass %s for the reason that is given', (name, { says }) => {
    const { failures = [] } = outcomes.get(name) ?? {};
    expect(failures).not.toEqual([]);
    for (const failure of failures) expect(failure).toMatch(says);
  });
});
