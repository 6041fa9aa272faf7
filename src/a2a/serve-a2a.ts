import { AppError } from '../errors.ts';
import { describeUnexpected } from '../execution/describe-unexpected.ts';
import { createClientStream } from '../gateway/client-stream.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { defaultRoute } from '../routing-memory/default-route.ts';
import type { Services } from '../services.ts';
import type { WaitUntil } from '../timed-cache.ts';
import { A2AError } from './a2a-error.ts';
import type { A2ASkillContext, A2ASkillRegistry } from './a2a-skill.ts';
import { type Agent, type Caller, createAgent } from './agent.ts';
import { agentCardV03, agentCardV10 } from './agent-card.ts';
import type { Dialect, Operation } from './dialect.ts';
import { dialectV03 } from './dialect-v03.ts';
import { dialectV10 } from './dialect-v10.ts';
import { idOf, parseRpc, type RpcRequest, readRpc, rpcError, rpcResult } from './json-rpc.ts';
import { listTasks, shorten } from './list-tasks.ts';
import { readVersion } from './protocol-version.ts';
import { readTaskId } from './read-params.ts';
import { registerA2ASkills } from './skills/index.ts';
import { isTerminal, type TaskEvent } from './task.ts';
import { watchTask } from './watch-task.ts';

export interface A2ACall {
  services: Services;
  bytes: Uint8Array;
  /** The header `a2a-version`. */
  version: string | undefined;
  caller: Caller;
  requestId: string;
  waitUntil: WaitUntil;
}

/** Most time between two signs of life of a stream. */
const KEEPALIVE_MS = 10_000;

function contextFor(
  { registry, config, settings, routingMemory, agentSkills }: Services,
  skills: A2ASkillRegistry,
  caller: Caller,
): A2ASkillContext {
  return {
    ...caller,
    searchMemory: routingMemory.search,
    providers: config.providers,
    defaultRoute: async () => defaultRoute(config.providers, (await settings.load()).fallbackModels),
    visibleSkills: async () => (await registry.catalogue(caller.apiKeyId)).skills,
    howToTexts: async () => (await agentSkills.list()).skills,
    agentSkills: skills.list,
  };
}

/** What the other agent is told of a failure; a bug is logged and told without detail. */
function asA2AError(error: unknown, { services, requestId }: A2ACall): A2AError {
  if (error instanceof A2AError) return error;
  if (error instanceof AppError) return new A2AError('INTERNAL_ERROR', error.message);
  services.log.error('request.failed', { requestId, ...describeUnexpected(error) });
  return new A2AError('INTERNAL_ERROR', 'Internal error');
}

/** The method's name tells the revision; the names of both have nothing in common. */
const dialectOf = (method: string): Dialect | undefined => [dialectV10, dialectV03].find(({ methods }) => Object.hasOwn(methods, method));

/** Server-sent events, one for each thing that happens to a task, while the work goes on even when nobody reads. */
function streamEvents(
  call: A2ACall,
  { id }: RpcRequest,
  dialect: Dialect,
  work: (emit: (event: TaskEvent) => void, left: AbortSignal) => Promise<unknown>,
): Response {
  const { services, waitUntil } = call;
  const left = new AbortController();
  const client = createClientStream(() => left.abort(new Error('The client left')), services.now);
  const send = (message: JsonObject) => void client.write(`data: ${JSON.stringify(message)}\n\n`);
  const keepalive = setInterval(() => client.probe(': keepalive\n\n'), KEEPALIVE_MS);
  const working = work((event) => send(rpcResult(id, dialect.event(event))), left.signal)
    .catch((error: unknown) => send(rpcError(id, asA2AError(error, call), dialect)))
    .finally(() => {
      clearInterval(keepalive);
      client.close();
    });
  waitUntil(working);
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };
  return new Response(client.readable, { headers });
}

type Answer = { result: JsonValue } | { response: Response };

async function perform(operation: Operation, request: RpcRequest, dialect: Dialect, call: A2ACall, agent: Agent): Promise<Answer> {
  const { services, caller, requestId, waitUntil } = call;
  const { params } = request;
  switch (operation) {
    case 'send': {
      const read = dialect.readSend(params);
      const { task, run } = await agent.submit(read, caller);
      const running = run(() => {});
      // It is done to its end even when the client has left by then.
      waitUntil(
        running.catch((error: unknown) => {
          if (!read.waits) services.log.error('a2a.task.failed', { requestId, taskId: task.id, ...describeUnexpected(error) });
        }),
      );
      return { result: dialect.sent(shorten(read.waits ? await running : task, read.historyLength)) };
    }
    case 'stream': {
      const read = dialect.readSend(params);
      const { historyLength } = read;
      const { run } = await agent.submit(read, caller);
      const shortened = (emit: (event: TaskEvent) => void) => (event: TaskEvent) =>
        emit(event.kind === 'task' ? { kind: 'task', task: shorten(event.task, historyLength) } : event);
      return { response: streamEvents(call, request, dialect, (emit) => run(shortened(emit))) };
    }
    case 'get': {
      const { id, historyLength } = readTaskId(params);
      return { result: dialect.task(shorten(await agent.get(id, caller), historyLength)) };
    }
    case 'cancel':
      return { result: dialect.task(await agent.cancel(readTaskId(params).id, caller)) };
    case 'resubscribe': {
      const task = await agent.get(readTaskId(params).id, caller);
      const finishes = dialect.resubscribesToFinished;
      if (isTerminal(task.state) && !finishes)
        throw new A2AError('UNSUPPORTED_OPERATION', `Task ${task.id} is ${task.state}: there is nothing to subscribe to`);
      return {
        response: streamEvents(call, request, dialect, (emit, signal) => watchTask(agent, task, caller, { emit, finishes, signal })),
      };
    }
    case 'list':
      return { result: await listTasks(services.a2aTasks, caller.apiKeyId, dialect.readList(params), dialect) };
    case 'push-config':
      throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported');
    case 'extended-card':
      throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'There is no extended agent card');
  }
}

/** Answers one request of JSON-RPC; its failures are JSON-RPC's, too. */
export async function serveA2A(call: A2ACall): Promise<Response> {
  const { services, bytes, version } = call;
  let value: JsonValue = null;
  let dialect: Dialect | undefined;
  try {
    value = parseRpc(bytes);
    const request = readRpc(value);
    dialect = dialectOf(request.method);
    readVersion(version);
    if (dialect === undefined) throw new A2AError('METHOD_NOT_FOUND', `Method not found: ${request.method.slice(0, 100)}`);
    const skills = registerA2ASkills();
    const agent = createAgent({
      tasks: services.a2aTasks,
      skills,
      contextFor: (caller) => contextFor(services, skills, caller),
      now: () => new Date(services.now()),
      newId: services.newId,
      log: services.log,
    });
    const answer = await perform(dialect.methods[request.method] as Operation, request, dialect, call, agent);
    return 'response' in answer ? answer.response : Response.json(rpcResult(request.id, answer.result));
  } catch (error) {
    return Response.json(rpcError(idOf(value), asA2AError(error, call), dialect));
  }
}

/** The agent's card, of the revision that is asked for. Throws an A2AError for one that is not spoken here. */
export function agentCard(origin: string, version: string | undefined): JsonObject {
  const card = readVersion(version) === '1.0' ? agentCardV10 : agentCardV03;
  return card(origin, registerA2ASkills().list());
}
