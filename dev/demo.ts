import { rmSync } from 'node:fs';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { isolateEnvironment } from './stack/isolated-environment.ts';
import { type Stack, startStack } from './stack.ts';

const SKILL = 'eval_code';
const QUESTION = 'What are the first 10 primes? Compute them with a program.';
const EXPECTED = '2, 3, 5, 7, 11, 13, 17, 19, 23, 29';
const REQUEST_TIMEOUT_MS = 120_000;

const skillList = z.object({ data: z.array(z.object({ id: z.string(), name: z.string(), policy: z.string() })) });
const execution = z.object({
  id: z.string(),
  skillName: z.string(),
  skillVersion: z.string(),
  status: z.string(),
  input: z.object({ code: z.string() }),
  output: z.object({ stdout: z.string(), image: z.string(), exitCode: z.number() }).nullable(),
  errorMessage: z.string().nullable(),
  durationMs: z.number().nullable(),
});
const executionList = z.object({ data: z.array(execution) });
const chunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })).default([]),
  omniroute: z
    .object({ rounds: z.number(), executions: z.array(z.object({ id: z.string(), skill: z.string(), status: z.string() })) })
    .optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Answer {
  injected: string[];
  text: string;
  omniroute: NonNullable<z.infer<typeof chunk>['omniroute']>;
}

function check(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new Error(reason);
}

const say = (title: string, text: string): void => console.log(`\n${title}\n${text.replace(/^/gm, '  ')}`);

async function call(stack: Stack, token: string, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${stack.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response;
}

/** Without it a person would have to approve the model's call first. */
async function letModelRunCode(stack: Stack): Promise<void> {
  const { data } = skillList.parse(await (await call(stack, stack.managementToken, 'GET', `/api/skills?q=${SKILL}`)).json());
  const skill = data.find(({ name }) => name === SKILL);
  check(skill !== undefined, `the gateway has no skill named ${SKILL}`);
  await call(stack, stack.managementToken, 'PUT', `/api/skills/${skill.id}`, { policy: 'auto' });
  console.log(`${SKILL} may run without approval: its policy is auto instead of ${skill.policy}, in the demo's own data folder alone`);
}

/** Asks the gateway as any OpenAI client would, and prints the answer as it comes. */
async function ask(stack: Stack): Promise<Answer> {
  const response = await call(stack, stack.apiKey, 'POST', '/v1/chat/completions', {
    model: 'scripted-demo',
    stream: true,
    messages: [{ role: 'user', content: QUESTION }],
  });
  const injected = (response.headers.get('x-omniroute-skills-injected') ?? '').split(',').map((name) => name.trim());
  say('tools that the gateway injected', injected.join('\n'));
  check(response.body !== null, 'the answer has no body');
  console.log('\nanswer, as it streams');
  process.stdout.write('  ');
  let text = '';
  let omniroute: Answer['omniroute'] | undefined;
  const events = response.body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events as unknown as AsyncIterable<{ data: string }>) {
    if (data === '[DONE]') break;
    const parsed = chunk.parse(JSON.parse(data));
    check(parsed.error === undefined, `the stream ended with an error: ${parsed.error?.message}`);
    const piece = parsed.choices.map(({ delta }) => delta.content ?? '').join('');
    process.stdout.write(piece);
    text += piece;
    omniroute = parsed.omniroute ?? omniroute;
  }
  console.log();
  check(omniroute !== undefined, 'no event of the stream has a field omniroute');
  return { injected, text, omniroute };
}

/** Throws an Error that says which step did not happen. */
async function show(stack: Stack): Promise<void> {
  await letModelRunCode(stack);
  say('question', QUESTION);
  const { injected, text, omniroute } = await ask(stack);
  const [told] = omniroute.executions;
  check(told !== undefined, 'the gateway intercepted no call');
  const listed = executionList.parse(await (await call(stack, stack.apiKey, 'GET', '/api/skills/executions')).json());
  const row = listed.data.find(({ id }) => id === told.id);
  check(row !== undefined, `the execution ${told.id} is not recorded`);
  say(`intercepted call of ${told.skill}`, row.input.code);
  say(`output of the container (${row.output?.image ?? 'none'})`, row.output?.stdout.trimEnd() ?? row.errorMessage ?? '');
  const { id, skillName, skillVersion, status, durationMs } = row;
  say('recorded execution', JSON.stringify({ id, skillName, skillVersion, status, durationMs, rounds: omniroute.rounds }));

  check(
    injected.some((name) => name.startsWith(`${SKILL}@`)),
    `${SKILL} was not injected`,
  );
  check(status === 'success', `the execution ended as ${status}: ${row.errorMessage}`);
  check(row.output?.stdout.trim() === EXPECTED, 'the container did not print the primes');
  check(omniroute.rounds === 2, `the model was asked ${omniroute.rounds} times and not twice`);
  check(text.includes(EXPECTED), "the model's answer does not hold the container's output");
}

async function main(): Promise<void> {
  const env = await isolateEnvironment(process.env);
  const lines: string[] = [];
  try {
    const stack = await startStack({ env, log: (part, line) => lines.push(`[${part}] ${line}`) });
    console.log(`the gateway runs on ${stack.url}; its model is a scripted one`);
    try {
      const died = stack.ended.then((reason) => {
        throw new Error(reason ?? 'the stack was stopped');
      });
      await Promise.race([show(stack), died]);
    } finally {
      await stack.stop();
    }
    console.log('\ndone: everything was stopped, nothing is left');
  } catch (error) {
    console.error(lines.join('\n'));
    throw error;
  } finally {
    rmSync(env.DATA_DIR, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`\nthe demo failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
