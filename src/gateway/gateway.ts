import { AppError } from '../errors.ts';
import type { RequestFacts } from '../providers/adapter.ts';
import { routeModel } from '../providers/route-model.ts';
import type { Settings } from '../settings.ts';
import type { Exchange, GatewayDependencies, GatewayRequest } from './exchange.ts';
import { forwardReply } from './forward-reply.ts';
import { answer } from './plain-reply.ts';
import { injectSelected, selectTools } from './select-tools.ts';
import { stream } from './stream-reply.ts';
import { restoreSuspendedTurns } from './suspended-turns.ts';
import { openUpstream, upstreamHeaders } from './upstream.ts';

const SKILLS_HEADER_VALUES = ['off', 'loop', 'inline'] as const;

function readSkillsHeader(headers: Headers): (typeof SKILLS_HEADER_VALUES)[number] | undefined {
  const value = headers.get('x-omniroute-skills')?.trim().toLowerCase();
  if (value === undefined) return undefined;
  const known = SKILLS_HEADER_VALUES.find((candidate) => candidate === value);
  if (known === undefined) throw new AppError('invalid_request', `x-omniroute-skills: use one of ${SKILLS_HEADER_VALUES.join(', ')}`);
  return known;
}

export interface Gateway {
  /** Answers a request of any format. Rejects with an AppError for what the client did wrong and for a provider that cannot be used. */
  handle(request: GatewayRequest): Promise<Response>;
}

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { providers, suspendedTurns, fetch, log } = dependencies;

  async function chooseTools(request: GatewayRequest, facts: RequestFacts, upstreamFormat: string, settings: Settings) {
    if (!settings.skillsEnabled) return undefined;
    const offered = await dependencies.offeredSkills(request.apiKeyId, request.waitUntil);
    const { autoMinScore: minScore, autoMaxSkills: maxSkills } = settings;
    return selectTools(offered, { facts, headers: request.headers, adapter: request.adapter, upstreamFormat, minScore, maxSkills });
  }

  return {
    async handle(request) {
      const { adapter, body } = request;
      const facts = adapter.describeRequest(body);
      const { provider, model } = routeModel(providers, adapter.format, facts.model);
      const url = `${provider.baseUrl}${request.path(model)}`;
      const headers = upstreamHeaders(provider, request.headers);
      const skills = readSkillsHeader(request.headers);

      const routed = model === facts.model ? body : adapter.withModel(body, model);
      const cleaned = adapter.removeInlineResults(routed);
      const original = await restoreSuspendedTurns(adapter, cleaned, request.apiKeyId, suspendedTurns);
      const settings = await dependencies.settings(request.waitUntil);
      const selected = await request.stopwatch.time('inject', async () =>
        skills === 'off' ? undefined : chooseTools(request, facts, provider.format, settings),
      );
      const sent = original === body ? request.bytes : JSON.stringify(original);
      if (selected === undefined) {
        log.info('skills.injection.skipped', { requestId: request.requestId });
        const call = { url, headers, body: sent, signal: request.signal };
        return forwardReply(await request.stopwatch.time('upstream', () => openUpstream(fetch, call)));
      }
      log.info('skills.injection.injected', {
        requestId: request.requestId,
        skills: [...selected.before, ...selected.after].map(({ key }) => key),
      });
      const exchange: Exchange = {
        dependencies,
        request,
        settings,
        original,
        injected: injectSelected(adapter, original, selected),
        selected,
        resultMode: skills === 'inline' || skills === 'loop' ? skills : settings.resultMode,
        send: (next, signal) =>
          request.stopwatch.time('upstream', () => openUpstream(fetch, { url, headers, body: JSON.stringify(next), signal })),
      };
      return facts.stream ? stream(exchange) : answer(exchange);
    },
  };
}
