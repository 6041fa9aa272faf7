// Loaded before a part's own program. The stack holds the other end of our standard input and lets go of it when it ends,
// however it ends, so a part never outlives it.

const GRACE_MS = 15_000;

function endGroup(): void {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), GRACE_MS).unref();
}

process.stdin.once('end', endGroup).once('error', endGroup).resume();
// Listening is no reason for a part to stay that would end by itself.
process.stdin.unref();
