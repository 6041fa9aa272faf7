import { sleep } from '../execution/sleep.ts';
import type { Agent, Caller } from './agent.ts';
import { isUnderWay, type Task, type TaskEvent } from './task.ts';

/** How often the state of a task is looked up that another isolate may be at work on. */
const POLL_MS = 500;

/**
 * Tells of a task as it is, and of what becomes of it until nobody is at work on it any more or the signal fires. Whoever works on it may do so in
 * another isolate, so the database is asked; a dead isolate's task ends when its lease does. With `finishes` the last state is told once more as an
 * event of its own.
 */
export async function watchTask(
  agent: Pick<Agent, 'get'>,
  first: Task,
  caller: Caller,
  { emit, finishes, signal }: { emit(event: TaskEvent): void; finishes: boolean; signal: AbortSignal },
): Promise<void> {
  let task = first;
  emit({ kind: 'task', task });
  let isTold = false;
  while (isUnderWay(task.state) && !signal.aborted) {
    await sleep(POLL_MS, signal);
    if (signal.aborted) return;
    const next = await agent.get(task.id, caller);
    isTold = next.updatedAt !== task.updatedAt;
    if (isTold) {
      if (!isUnderWay(next.state)) for (const artifact of next.artifacts) emit({ kind: 'artifact', task: next, artifact });
      emit({ kind: 'status', task: next });
    }
    task = next;
  }
  if (finishes && !isTold) emit({ kind: 'status', task });
}
