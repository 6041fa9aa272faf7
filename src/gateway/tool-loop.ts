import type { JsonObject } from '../json.ts';
import type { ProviderAdapter, ToolCall, ToolResult } from '../providers/adapter.ts';
import type { LoopBounds } from './loop-bounds.ts';

export interface ToolLoop {
  adapter: ProviderAdapter;
  /** The request with its tools. */
  request: JsonObject;
  bounds: LoopBounds;
  /** One round: sends the request and returns the whole reply, whether it was streamed or not. */
  callModel(request: JsonObject): Promise<JsonObject>;
  isOwned(call: ToolCall): boolean;
  /** Runs the owned calls of a turn; results in call order. A call that fails is a result, never a rejection. */
  runCalls(calls: readonly ToolCall[]): Promise<ToolResult[]>;
}

export interface LoopOutcome {
  /** The replies of all rounds; the last one is the answer. */
  responses: JsonObject[];
  /** What was sent in the last round. */
  request: JsonObject;
  /** Results of the owned calls of the last reply, which are hidden beside the client's own calls. */
  pendingResults: ToolResult[];
}

const refuse = (calls: readonly ToolCall[], reason: string): ToolResult[] =>
  calls.map(({ id, name }) => ({
    callId: id,
    name,
    content: JSON.stringify({ success: false, error: `Not run. ${reason}.` }),
    failed: true,
  }));

/** Calls the model until it answers without owned calls, running those in between. At a bound the model is asked for its final answer. */
export async function runToolLoop(loop: ToolLoop): Promise<LoopOutcome> {
  const { adapter, bounds } = loop;
  let { request } = loop;
  const responses: JsonObject[] = [];
  for (let isFinal = false; ; ) {
    const response = await loop.callModel(request);
    responses.push(response);
    const turn = adapter.readTurn(response);
    const owned = turn.calls.filter(loop.isOwned);
    if (turn.paused && turn.calls.length === 0 && bounds.reasonToStop([]) === undefined) {
      request = adapter.appendToolResults(request, response, []);
      continue;
    }
    if (owned.length === 0) return { responses, request, pendingResults: [] };
    if (turn.cut) return { responses, request, pendingResults: refuse(owned, 'The reply was cut before the call was complete') };
    if (isFinal) return { responses, request, pendingResults: refuse(owned, 'No further calls are possible') };

    const stop = bounds.reasonToStop(owned);
    const results = stop === undefined ? await loop.runCalls(owned) : refuse(owned, stop);
    if (owned.length < turn.calls.length) return { responses, request, pendingResults: results };
    isFinal = stop !== undefined || bounds.endRound(results) !== undefined;
    request = adapter.releaseToolChoice(adapter.appendToolResults(request, response, results));
    if (isFinal) request = adapter.forbidTools(request);
  }
}

/** One round only: the owned calls are run and their results go into the reply itself. */
export async function runInlineRound({ adapter, request, callModel, isOwned, runCalls }: ToolLoop): Promise<LoopOutcome> {
  const response = await callModel(request);
  const turn = adapter.readTurn(response);
  const owned = turn.calls.filter(isOwned);
  const runs = owned.length > 0 && !turn.cut;
  return { responses: [response], request, pendingResults: runs ? await runCalls(owned) : [] };
}
