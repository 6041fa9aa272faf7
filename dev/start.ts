import { join } from 'node:path';
import { curlLine, exampleRequest } from './stack/example-request.ts';
import { firstGone, listNpmParents } from './stack/npm-parents.ts';
import { type Stack, startStack } from './stack.ts';

const FLAG = '--wrangler';

function introduce(stack: Stack, dataDir: string): void {
  console.log(`ready ${stack.url}`);
  const file = join(dataDir, 'credentials.json');
  if (stack.madeManagementToken) console.log(`management token ${stack.managementToken} (kept in ${file})`);
  console.log(`API key ${stack.apiKey} (kept in ${file})`);
  if (stack.isScripted) {
    console.log('no provider is configured: the models scripted-* follow a script, a tool for development that is no part of the gateway');
  }
  const example = exampleRequest(process.env, stack.isScripted);
  if (example === undefined) return;
  console.log('try it (eval_code asks for your approval before it runs; npm run demo shows all of it):');
  console.log(`  ${curlLine(stack.url, stack.apiKey, example)}`);
}

/** Runs the stack until a signal or the death of a part. Resolves to the exit code. */
async function main(flags: readonly string[]): Promise<number> {
  const unknown = flags.find((flag) => flag !== FLAG);
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}; known is ${FLAG}`);
  // Heard from the first moment on; once more ends us at once, and the parts with us.
  const interrupted = Promise.withResolvers<'interrupted'>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.resolve('interrupted'));
  // A killed npm sends no signal, and nobody could stop us from its terminal any more.
  if (process.env.npm_lifecycle_event !== undefined) void firstGone(listNpmParents()).then(() => interrupted.resolve('interrupted'));

  const starting = startStack({
    env: process.env,
    wrangler: flags.includes(FLAG),
    log: (part, line) => console.log(`[${part}] ${line}`),
  });
  const started = await Promise.race([starting, interrupted.promise]);
  if (started === 'interrupted') {
    await starting.then((stack) => stack.stop()).catch(() => {});
    return 0;
  }
  introduce(started, process.env.DATA_DIR || '.data');
  const reason = await Promise.race([started.ended, interrupted.promise]);
  if (reason !== 'interrupted') {
    console.error(`stopped, because ${reason}`);
    return 1;
  }
  console.log('stopping');
  await started.stop();
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`cannot start: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
