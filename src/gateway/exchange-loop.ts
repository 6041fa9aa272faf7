import type { JsonObject } from '../json.ts';
import type { CallVisibility, Reply, ToolCall } from '../providers/adapter.ts';
import { skillKey } from '../skills/skill.ts';
import { createTurnId, markCallId } from './call-marker.ts';
import type { Exchange, ExchangeObserver } from './exchange.ts';
import { createLoopBounds } from './loop-bounds.ts';
import { createCallRunner } from './run-calls.ts';
import { SUSPENDED_TURN_TTL_MS } from './suspended-turns.ts';
import { type LoopOutcome, runInlineRound, runToolLoop } from './tool-loop.ts';

export interface ExchangeLoop {
  /** How calls look to the client while a reply is streamed. */
  readonly liveVisibility: CallVisibility;
  /** Is told of each hidden call as soon as its arguments are complete. */
  onCallReady(call: ToolCall, signal: AbortSignal): void;
  /** Runs the loop with one way of calling the model; `signal` fires when the client leaves. */
  run(callModel: (request: JsonObject) => Promise<JsonObject>, signal: AbortSignal): Promise<{ reply: Reply; visibility: CallVisibility }>;
}

/** What plain and streamed replies have in common: bounds, owned calls, suspension of mixed turns and the report. `onCallsBegin` hears of each turn. */
export function createExchangeLoop(exchange: Exchange, onCallsBegin: () => void = () => {}): ExchangeLoop {
  const { dependencies, request, settings, original, injected, selected, resultMode, approvedExecutions } = exchange;
  const { executor, suspendedTurns, now, newId, log } = dependencies;
  const { adapter, apiKeyId, requestId, headers, location, stopwatch, observer } = request;
  let madeTurnId: string | undefined;
  const turnId = (): string => {
    madeTurnId ??= createTurnId(newId);
    return madeTurnId;
  };
  const isOwned = (call: Pick<ToolCall, 'name'>) => selected.skillFor(call) !== undefined;
  const isHidden = (name: string) => resultMode === 'loop' && isOwned({ name });
  const bounds = createLoopBounds(settings, now);
  const runner = createCallRunner({
    executor,
    skillFor: selected.skillFor,
    context: { apiKeyId, sessionId: headers.get('x-omniroute-session'), requestId: headers.get('idempotency-key') ?? requestId, location },
    requestId,
    log,
  });

  const deadline = () => AbortSignal.timeout(bounds.remainingMs());

  /** Keeps what the client does not see when it has calls of its own to answer; true when there is anything to keep. */
  async function suspend({ responses, request: lastRequest, pendingResults }: LoopOutcome): Promise<boolean> {
    const response = responses.at(-1) ?? {};
    const { calls } = adapter.readTurn(response);
    const hidesSomething = responses.length > 1 || calls.some(isOwned);
    if (resultMode === 'inline' || !hidesSomething || calls.every(isOwned)) return false;
    const transcript = adapter.suspendTurn(original, lastRequest, response, pendingResults);
    await suspendedTurns.save({ id: turnId(), apiKeyId, transcript, expiresInMs: SUSPENDED_TURN_TTL_MS });
    return true;
  }

  const exchangeLoop: ExchangeLoop = {
    liveVisibility: {
      isHidden,
      clientCallId: (id, afterHidden) => (resultMode === 'inline' ? id : markCallId({ id, turnId: turnId(), provisional: !afterHidden })),
    },
    onCallReady(call, signal) {
      if (isOwned(call) && bounds.mayStart(call)) runner.startEarly(call, { signal, deadline: deadline() });
    },
    async run(callModel, signal) {
      const runCalls = (calls: readonly ToolCall[]) => {
        onCallsBegin();
        for (const { name } of calls) {
          log.info('skills.interception.tool_call_detected', { requestId, tool: name });
          const skill = selected.skillFor({ name });
          if (skill?.kind === 'builtin')
            log.info('skills.interception.builtin_tool_detected', { requestId, tool: name, skill: skillKey(skill) });
        }
        return stopwatch.time('tools', () => runner.run(calls, { signal, deadline: deadline(), shorten: bounds.shorten }));
      };
      const loop = { adapter, request: injected, bounds, callModel, isOwned, runCalls };
      const outcome = await (resultMode === 'inline' ? runInlineRound(loop) : runToolLoop(loop));
      const suspended = await suspend(outcome);
      const { responses } = outcome;
      const usageByRound = responses.map((response) => adapter.readTurn(response).usage ?? null);
      return {
        reply: {
          responses,
          report: { rounds: responses.length, executions: [...approvedExecutions, ...runner.executions], usageByRound },
          inlineResults: resultMode === 'inline' ? outcome.pendingResults : [],
          approvalRequests: runner.approvalRequests,
        },
        visibility: { isHidden, clientCallId: (id) => (suspended ? markCallId({ id, turnId: turnId(), provisional: false }) : id) },
      };
    },
  };
  return observer === undefined ? exchangeLoop : observed(exchangeLoop, observer);
}

const observed = (loop: ExchangeLoop, observer: ExchangeObserver): ExchangeLoop => ({
  ...loop,
  run(callModel, signal) {
    const running = loop.run(callModel, signal);
    observer.onExchange(
      running.then(({ reply }) => reply),
      signal,
    );
    return running;
  },
});
