import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installProgram } from '../support/install-program.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let home: string;
beforeAll(async () => {
  stack = await startTestStack();
  home = mkdtempSync(join(tmpdir(), 'omniroute-agent-'));
});
afterAll(async () => {
  await stack?.stop();
  rmSync(home, { recursive: true, force: true });
});

interface Agent {
  name: string;
  version: string;
  command: string;
  args(prompt: string): string[];
  env(): Record<string, string>;
}

/** Programs that people point at a gateway; each starts without a login when it has a key and a base URL. */
const agents: Agent[] = [
  {
    name: '@anthropic-ai/claude-code',
    version: '2.1.332',
    command: 'claude',
    args: (prompt) => ['-p', '--model', 'scripted-demo', prompt],
    env: () => ({
      ANTHROPIC_BASE_URL: stack.url,
      ANTHROPIC_API_KEY: stack.apiKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    name: '@openai/codex',
    version: '0.171.0',
    command: 'codex',
    args: (prompt) => {
      const provider = `model_providers.edge={name="edge",base_url="${stack.url}/v1",env_key="EDGE_KEY",wire_api="responses"}`;
      const settings = ['model_provider="edge"', provider, 'check_for_update_on_startup=false', 'analytics.enabled=false'];
      return ['exec', '--skip-git-repo-check', '-m', 'scripted-demo', ...settings.flatMap((setting) => ['-c', setting]), prompt];
    },
    env: () => ({ EDGE_KEY: stack.apiKey }),
  },
  {
    name: '@google/gemini-cli',
    version: '0.61.0',
    command: 'gemini',
    args: (prompt) => ['-m', 'scripted-demo', '-p', prompt],
    env: () => ({ GOOGLE_GEMINI_BASE_URL: stack.url, GEMINI_API_KEY: stack.apiKey, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  },
];

/** Runs a program with nothing on its standard input; resolves to all that it printed. */
function run(command: string, args: string[], env: Record<string, string>, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 90_000 });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(printed) : reject(new Error(`${command} ended with ${code}: ${printed.slice(-2_000)}`)),
    );
  });
}

it.each(agents)(
  '$name works through the gateway, its skills hidden',
  async ({ name, version, command, args, env }) => {
    const commands = await installProgram(name, version);
    const folder = join(home, command);
    mkdirSync(join(folder, '.gemini'), { recursive: true });
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } };
    writeFileSync(join(folder, '.gemini', 'settings.json'), JSON.stringify(settings));
    const prompt = `call file_write {"path":"${command}.txt","content":"by ${command}"}\nthen\ncall file_read {"path":"${command}.txt"}`;
    const path = [dirname(process.execPath), commands, process.env.PATH].join(delimiter);
    const printed = await run(join(commands, command), args(prompt), { HOME: folder, PATH: path, TERM: 'dumb', ...env() }, folder);
    expect(printed).toContain(`file_read answered: by ${command}`);
    const response = await fetch(`${stack.url}/api/skills/executions`, { headers: { authorization: `Bearer ${stack.apiKey}` } });
    const { data } = (await response.json()) as { data: { skillName: string; input: { path?: string }; status: string }[] };
    const own = data.filter(({ input }) => input.path === `${command}.txt`);
    expect(own.map(({ skillName, status }) => [skillName, status])).toEqual([
      ['file_read', 'success'],
      ['file_write', 'success'],
    ]);
  },
  180_000,
);
