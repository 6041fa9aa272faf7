import { AppError } from '../errors.ts';
import type { ExchangeObserver, GatewayRequest } from '../gateway/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { UpstreamRefusal } from '../gateway/upstream.ts';
import type { Logger } from '../logger.ts';
import type { ReplyReport } from '../providers/adapter.ts';
import type { ModelRoute } from '../providers/route-model.ts';
import { lastUserText } from './last-user-text.ts';
import { readForwarded } from './read-forwarded.ts';
import type { RoutingMemoryStore, RoutingOutcome } from './routing-memory-store.ts';
import { countTokens } from './token-counts.ts';

export interface RememberingDependencies {
  gateway: Gateway;
  memory: Pick<RoutingMemoryStore, 'record'>;
  /** Milliseconds since 1970. */
  now(): number;
  log: Logger;
}

type Ending = Pick<RoutingOutcome, 'success' | 'skills' | 'latencyMs' | 'inputTokens' | 'outputTokens'>;

const FAILED = { success: false, skills: [], inputTokens: null, outputTokens: null };

/** Whether a refusal tells of the model: every other one says what the client, or the operator's credentials, got wrong. */
const isOfModel = ({ status }: Response): boolean => status === 408 || status === 429 || status >= 500;

/** Whether an error is the provider's. */
const isOfProvider = (error: unknown): boolean =>
  error instanceof UpstreamRefusal ? isOfModel(error.response) : error instanceof AppError && error.code.startsWith('upstream_');

const skillsOf = ({ executions }: ReplyReport): string[] => [...new Set(executions.map(({ skill }) => skill))];

/**
 * The gateway for keys whose outcomes are remembered: the same replies, and one row for each that a model answered or failed to answer,
 * written behind the reply. A request that its client gave up, or that was only passed on, leaves none. Whatever goes wrong with the memory
 * is logged and never the request's concern.
 */
export function createRememberingGateway({ gateway, memory, now, log }: RememberingDependencies): Gateway {
  async function record(request: GatewayRequest, route: ModelRoute, ending: Ending): Promise<void> {
    const { adapter, body, apiKeyId, requestId } = request;
    try {
      // The stop words are large: only what needs them loads them.
      const { digestTask } = await import('./digest-task.ts');
      const digest = digestTask(lastUserText(adapter.format, body));
      // What cannot be found again is not worth a row.
      if (digest.length === 0) return;
      const outcome = { provider: route.provider.name, model: route.model, ...ending, digest, createdAt: new Date(now()).toISOString() };
      await memory.record(apiKeyId, outcome);
    } catch (error) {
      log.warn('routing_memory.not_recorded', { requestId, code: error instanceof AppError ? error.code : 'unexpected' });
    }
  }

  /** Sends half of a tee to the client, byte for byte as it would have gone, and reads the other one. */
  function watchForwarded(
    request: GatewayRequest,
    response: Response,
    end: (ending: Omit<Ending, 'latencyMs'>, seen: boolean) => Promise<void>,
  ) {
    if (response.body === null) return response;
    const [forClient, forUs] = response.body.tee();
    const isEventStream = (response.headers.get('content-type') ?? '').toLowerCase().includes('text/event-stream');
    const reading = readForwarded(forUs, isEventStream, request.signal).then(async ({ usage, complete, failed }) => {
      if (!request.signal.aborted) await end({ success: !failed, skills: [], ...countTokens([usage]) }, complete);
    });
    request.waitUntil(reading);
    return new Response(forClient, response);
  }

  return {
    async handle(request) {
      if (request.isForwarded) return gateway.handle(request);
      const started = now();
      let route: ModelRoute | undefined;
      let isWatched = false;
      const end = async (ending: Omit<Ending, 'latencyMs'>, isTimed = true) => {
        if (route) await record(request, route, { ...ending, latencyMs: isTimed ? now() - started : null });
      };
      const observer: ExchangeObserver = {
        onRoute(tried) {
          route = tried;
        },
        onExchange(reply, signal) {
          isWatched = true;
          const ended = reply.then(
            ({ report }) => end({ success: true, skills: skillsOf(report), ...countTokens(report.usageByRound) }),
            (error: unknown) => (isOfProvider(error) && !signal.aborted ? end(FAILED) : undefined),
          );
          request.waitUntil(ended);
        },
      };
      try {
        const response = await gateway.handle({ ...request, observer });
        if (isWatched) return response;
        if (response.ok) return watchForwarded(request, response, end);
        if (isOfModel(response)) request.waitUntil(end(FAILED));
        return response;
      } catch (error) {
        if (!isWatched && isOfProvider(error)) request.waitUntil(end(FAILED));
        throw error;
      }
    },
  };
}
