import type { RequestFacts } from '../providers/adapter.ts';
import { findRoute, routeModel } from '../providers/route-model.ts';
import type { Settings } from '../settings.ts';
import type { Exchange, GatewayDependencies, GatewayRequest } from './exchange.ts';
import { forwardReply } from './forward-reply.ts';
import { answer } from './plain-reply.ts';
import { readListHeader, readSkillsHeader } from './request-headers.ts';
import { injectSelected, selectTools } from './select-tools.ts';
import { approveAll, settleApprovals } from './settle-approvals.ts';
import { stream } from './stream-reply.ts';
import { restoreSuspendedTurns } from './suspended-turns.ts';
import { createUpstreamRouter } from './upstream-router.ts';

export interface Gateway {
  /** Answers a request of any format. Rejects with an AppError for what the client did wrong and for a provider that cannot be used. */
  handle(request: GatewayRequest): Promise<Response>;
}

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { providers, suspendedTurns, log } = dependencies;

  function logSkipped(requestId: string, reason: 'off' | 'skills_disabled' | 'nothing_fits'): undefined {
    log.info('skills.injection.skipped', { requestId, reason });
  }

  /** Undefined when the request gets no skills, which is logged when there are any. */
  async function chooseTools(request: GatewayRequest, facts: RequestFacts, upstreamFormat: string, settings: Settings) {
    const { requestId, headers, adapter, waitUntil } = request;
    if (!settings.skillsEnabled) return logSkipped(requestId, 'skills_disabled');
    const { all, builtinOnly } = await dependencies.skillOffers(request.apiKeyId, waitUntil);
    const offered = settings.customSkillExecutionEnabled ? all : builtinOnly;
    if (offered.on.length === 0 && offered.auto === undefined) return undefined;
    const { autoMinScore: minScore, autoMaxSkills: maxSkills } = settings;
    return selectTools(offered, { facts, headers, adapter, upstreamFormat, minScore, maxSkills }) ?? logSkipped(requestId, 'nothing_fits');
  }

  return {
    async handle(request) {
      const { adapter, body, headers, requestId, stopwatch, waitUntil } = request;
      const facts = adapter.describeRequest(body);
      const skills = request.isForwarded ? 'off' : readSkillsHeader(headers);
      const settings = await dependencies.settings(waitUntil);
      const fallbacks = readListHeader(headers, 'x-omniroute-fallback');
      const asked = [facts.model, ...fallbacks].map((model) => routeModel(providers, adapter.format, model));
      // The setting is for all formats; what no provider of this one has is left out.
      const standing =
        fallbacks.length > 0 ? [] : settings.fallbackModels.flatMap((model) => findRoute(providers, adapter.format, model) ?? []);
      const routes = [...asked, ...standing];
      const upstream = createUpstreamRouter(dependencies, request, facts.model, routes);
      await approveAll(dependencies, readListHeader(headers, 'x-omniroute-approve'), request.apiKeyId);

      const cleaned = adapter.removeInlineResults(body);
      const restored = await restoreSuspendedTurns(adapter, cleaned, request.apiKeyId, suspendedTurns);
      const { body: original, executions } = await settleApprovals(dependencies, restored, request, settings);
      const upstreamFormat = routes[0]?.provider.format ?? adapter.format;
      const selected = await stopwatch.time('inject', async () =>
        skills === 'off' ? logSkipped(requestId, 'off') : chooseTools(request, facts, upstreamFormat, settings),
      );
      if (selected === undefined) {
        // No signal: the runtime itself ends a call whose reply it pipes when the client leaves.
        return forwardReply(await upstream.open(original, undefined, { bytes: original === body ? request.bytes : undefined }));
      }
      log.info('skills.injection.injected', { requestId, skills: [...selected.before, ...selected.after].map(({ key }) => key) });
      const exchange: Exchange = {
        dependencies,
        request,
        settings,
        original,
        injected: injectSelected(adapter, original, selected),
        selected,
        approvedExecutions: executions,
        resultMode: skills === undefined || skills === 'off' ? settings.resultMode : skills,
        send: (next, signal) => upstream.open(next, signal),
      };
      return facts.stream ? stream(exchange) : answer(exchange);
    },
  };
}
