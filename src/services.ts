import type { TaskStore } from './a2a/task-store.ts';
import { type AgentSkillCatalogue, createAgentSkillCatalogue } from './agent-skills/catalogue.ts';
import { type CachedApiKeys, createCachedApiKeys } from './cached-api-keys.ts';
import { type CachedSettings, createCachedSettings } from './cached-settings.ts';
import { createA2ATaskRepository } from './db/a2a-task-repository.ts';
import { createApiKeyRepository } from './db/api-key-repository.ts';
import { createApprovalRepository } from './db/approval-repository.ts';
import { openDatabase } from './db/client.ts';
import { createExecutionRepository } from './db/execution-repository.ts';
import { type DatabaseStatus, probeDatabase } from './db/probe-database.ts';
import { createRoutingMemoryRepository } from './db/routing-memory-repository.ts';
import { seedBuiltinSkills } from './db/seed-builtin-skills.ts';
import { createSettingsRepository } from './db/settings-repository.ts';
import { createSkillRepository } from './db/skill-repository.ts';
import { createSuspendedTurnRepository } from './db/suspended-turn-repository.ts';
import { createWebhookRepository } from './db/webhook-repository.ts';
import { createWorkspace, type Quota } from './db/workspace-repository.ts';
import type { Config, WireFormat } from './env.ts';
import type { ApprovalStore } from './execution/approval-store.ts';
import { createExecutor, type SkillExecutor } from './execution/create-executor.ts';
import type { ExecutionStore } from './execution/execution-store.ts';
import { runMaintenance } from './execution/maintenance.ts';
import { createRunnable } from './execution/runnable-skill.ts';
import { sleep } from './execution/sleep.ts';
import { askModels } from './gateway/ask-models.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { compileSkillOffers, type SkillOffers } from './gateway/offered-skills.ts';
import { handlers } from './handlers/index.ts';
import type { Logger } from './logger.ts';
import { createMarketplaces, type Marketplaces } from './marketplaces/marketplaces.ts';
import { createPublicFetch } from './net/public-fetch.ts';
import { createRunDirect } from './quickjs/create-run-direct.ts';
import { createRememberingGateway } from './routing-memory/remember-outcomes.ts';
import { OUTCOME_RETENTION_DAYS, type RoutingMemoryStore } from './routing-memory/routing-memory-store.ts';
import { createSandboxClient, type SandboxClient } from './sandbox/client.ts';
import { builtinSkills } from './skills/builtin/index.ts';
import { createRegistry, type Registry } from './skills/registry.ts';
import { createScoringMemory } from './skills/scoring-memory.ts';
import type { Skill } from './skills/skill.ts';
import type { SkillStore } from './skills/skill-store.ts';
import { createWebSearch } from './web-search/create-web-search.ts';
import { createWebhookHandler } from './webhooks/create-webhook-handler.ts';
import type { WebhookStore } from './webhooks/webhook-store.ts';

const DAY_MS = 24 * 3_600_000;

/** What the services reach the world by. */
export interface ServiceIo {
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** An id that nobody can guess. */
  newId(): string;
  /** As `Math.random`. */
  random(): number;
  log: Logger;
  /** The compiled module that `eval_code` runs JavaScript in when it does so inside the worker. */
  loadQuickJs(): Promise<WebAssembly.Module>;
}

export interface Services extends Pick<ServiceIo, 'now' | 'newId' | 'log'> {
  config: Config;
  gateway: Gateway;
  /** The same for keys that want the outcomes of their requests remembered. */
  rememberingGateway: Gateway;
  routingMemory: Pick<RoutingMemoryStore, 'search'>;
  a2aTasks: TaskStore;
  /** Every model that can be asked in a format, under the name that picks its provider. */
  listModels(format: WireFormat): Promise<{ id: string; owner: string }[]>;
  registry: Registry<SkillOffers>;
  skills: SkillStore;
  /** The functions of this release that a custom skill's `handlerCode` may name; it may also name one of `webhooks`. */
  handlerNames(): string[];
  webhooks: WebhookStore;
  executor: SkillExecutor;
  executions: ExecutionStore;
  approvals: ApprovalStore;
  apiKeys: CachedApiKeys;
  settings: CachedSettings;
  marketplaces: Marketplaces;
  agentSkills: AgentSkillCatalogue;
  sandbox: SandboxClient;
  probeDatabase(): Promise<DatabaseStatus>;
  /** The work of the cron trigger. Rejects when the database cannot be used. */
  maintain(): Promise<void>;
}

/** Builds everything that one isolate needs; the only place where the parts meet. Nothing is read or sent before it is asked for. */
export function createServices(config: Config, { fetch, now, newId, random, log, loadQuickJs }: ServiceIo): Services {
  const date = () => new Date(now());
  const db = openDatabase({ ...config.database, fetch });
  const executions = createExecutionRepository(db);
  const approvals = createApprovalRepository(db);
  const skills = createSkillRepository(db, log);
  const settingsRepository = createSettingsRepository(db, log);
  const settings = createCachedSettings(settingsRepository, { now });
  const suspendedTurns = createSuspendedTurnRepository(db, { now: date });
  const scoringMemory = createScoringMemory();
  const compile = (visible: readonly Skill[]) => compileSkillOffers(visible, scoringMemory);
  const registry = createRegistry({ skills, compile, now: date, newId, log });
  const sandbox = createSandboxClient({ ...config.sandbox, fetch, now, newId, random });
  const registered = new Map(handlers);
  const webhooks = createWebhookRepository(db);
  const findHandler = (name: string) => registered.get(name) ?? createWebhookHandler(name, { webhooks, now: date, newId });
  const { publicNetwork, dnsOverHttpsUrl } = config;
  const siteFetch: typeof fetch = (input, init) => (publicNetwork === undefined ? fetch(input, init) : publicNetwork.fetch(input, init));
  const publicFetch = createPublicFetch({ fetch, dnsOverHttpsUrl, siteFetch });
  const runDirect = createRunDirect({ loadQuickJs, now, random });
  const webSearchFor = createWebSearch({ providers: config.searchProviders, fetch, now, log });

  /** As the database has it, so that a change of it holds at once. */
  async function loadQuota(): Promise<Quota> {
    const { workspaceMaxBytes: maxBytes, workspaceMaxFiles: maxFiles } = await settings.load();
    return { maxBytes, maxFiles };
  }

  const executor = createExecutor({
    executions,
    approvals,
    runnableFor: (skill) => createRunnable(skill, { get: findHandler }, async ({ id }) => (await skills.get(id))?.handler),
    contextFor: ({ id, apiKeyId, sessionId, skillName, skillVersion }, signal, { location = {}, onOutput }, onHost) => ({
      skill: { name: skillName, version: skillVersion },
      apiKeyId,
      sessionId,
      executionId: id,
      signal,
      onOutput,
      workspace: createWorkspace(db, { apiKeyId, loadQuota, now: date }),
      sandbox: { run: (request, options) => sandbox.near(location).run(request, { ...options, onHost }) },
      browser: { browse: (request, options) => sandbox.near(location).browse(request, { ...options, onHost }) },
      publicFetch,
      webSearch: webSearchFor(apiKeyId),
      limits: config.limits,
      loadEvalSettings: () => settings.load(),
      runDirect,
    }),
    now: date,
    newId,
    random,
    handlers: registered,
    sleep,
    log,
  });

  const routingMemory = createRoutingMemoryRepository(db);
  const a2aTasks = createA2ATaskRepository(db, { now: date });
  const gateway = createGateway({
    providers: config.providers,
    executor,
    suspendedTurns,
    approvals,
    findSkill: (id, apiKeyId, waitUntil) => registry.find(id, apiKeyId, waitUntil),
    skillOffers: async (apiKeyId, waitUntil) => (await registry.catalogue(apiKeyId, waitUntil)).compiled,
    settings: settings.get,
    fetch,
    now,
    newId,
    log,
  });

  return {
    config,
    now,
    newId,
    log,
    gateway,
    rememberingGateway: createRememberingGateway({ gateway, memory: routingMemory, now, log }),
    routingMemory,
    a2aTasks,
    listModels: (format) => askModels(fetch, config.providers, format),
    registry,
    skills,
    handlerNames: () => [...registered.keys()],
    webhooks,
    executor,
    executions,
    approvals,
    apiKeys: createCachedApiKeys(createApiKeyRepository(db, { log, newId, now: date }), { now }),
    settings,
    agentSkills: createAgentSkillCatalogue(() => import('./agent-skills/generated/agent-skills.ts')),
    marketplaces: createMarketplaces({ fetch, settings: () => settings.load(), skills, registry }),
    sandbox,
    probeDatabase: () => probeDatabase(db),
    async maintain() {
      await seedBuiltinSkills(db, builtinSkills, { newId, now: date });
      const { executionRetentionDays } = await settings.load();
      await runMaintenance({
        executions,
        approvals,
        deleteExpired: {
          deletedTurns: suspendedTurns.deleteExpired,
          interruptedTasks: a2aTasks.failInterrupted,
          deletedTasks: a2aTasks.deleteExpired,
          deletedOutcomes: (time) => routingMemory.deleteOlderThan(new Date(time.getTime() - OUTCOME_RETENTION_DAYS * DAY_MS)),
        },
        retentionDays: executionRetentionDays,
        now: date,
        log,
      });
    },
  };
}
