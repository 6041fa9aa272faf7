import { runCommand } from './run-command.ts';
import { isClosedOutput, OutputClosed } from './terminal.ts';

const stopped = new AbortController();

// The second one ends the process at once, as it would without us.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort(new Error(signal)));
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error) => {
    if (!isClosedOutput(error)) throw error;
    if (output === process.stdout) stopped.abort(new OutputClosed());
  });
}

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  fetch,
  signal: stopped.signal,
});
