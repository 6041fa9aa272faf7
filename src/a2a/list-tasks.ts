import type { JsonObject } from '../json.ts';
import { A2AError } from './a2a-error.ts';
import type { Dialect, ListRequest } from './dialect.ts';
import type { Task } from './task.ts';
import type { TaskStore } from './task-store.ts';

/** The newest messages of a task, as many as are asked for. */
export const shorten = (task: Task, historyLength: number | undefined): Task =>
  historyLength === undefined ? task : { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };

const tokenOf = ({ updatedAt, id }: Task): string => `${updatedAt}~${id}`;

function readToken(token: string | undefined): { updatedAt: string; id: string } | undefined {
  if (token === undefined) return undefined;
  const [, updatedAt, id] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)~(.+)$/.exec(token) ?? [];
  if (updatedAt === undefined || id === undefined) throw new A2AError('INVALID_PARAMS', 'params.pageToken: no token of this agent');
  return { updatedAt, id };
}

/** One page of the caller's tasks. */
export async function listTasks(
  tasks: Pick<TaskStore, 'list'>,
  apiKeyId: string,
  request: ListRequest,
  dialect: Pick<Dialect, 'task'>,
): Promise<JsonObject> {
  const { contextId, state, changedAfter, pageSize, pageToken, historyLength, includeArtifacts } = request;
  // One more than is shown tells whether there is another page.
  const filter = { contextId, state, changedAfter, after: readToken(pageToken), limit: pageSize + 1 };
  const { tasks: found, total } = await tasks.list(apiKeyId, filter);
  const shown = found.slice(0, pageSize);
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  return {
    tasks: shown.map((task) => dialect.task(shorten(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength))),
    nextPageToken: last ? tokenOf(last) : '',
    pageSize,
    totalSize: total,
  };
}
