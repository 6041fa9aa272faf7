import type { ProviderConfig } from '../env.ts';
import type { ApprovalStore } from '../execution/approval-store.ts';
import type { SkillExecutor } from '../execution/create-executor.ts';
import type { Decisions, ExecuteContext, Executor } from '../execution/executor.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { ExecutionSummary, ProviderAdapter, Reply } from '../providers/adapter.ts';
import type { ModelRoute } from '../providers/route-model.ts';
import type { Settings } from '../settings.ts';
import type { Skill } from '../skills/skill.ts';
import type { WaitUntil } from '../timed-cache.ts';
import type { SkillOffers } from './offered-skills.ts';
import type { SelectedTools } from './select-tools.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { SuspendedTurnStore } from './suspended-turns.ts';

export interface GatewayDependencies {
  providers: readonly ProviderConfig[];
  executor: Executor & Decisions & Pick<SkillExecutor, 'getExecution'>;
  suspendedTurns: SuspendedTurnStore;
  approvals: Pick<ApprovalStore, 'decide' | 'get'>;
  /** The skill of an id, among what the owner sees. */
  findSkill(id: string, apiKeyId: string, waitUntil: WaitUntil): Promise<Skill | undefined>;
  /** Cached; a warm isolate answers without waiting for the database. A load is shared, so `waitUntil` keeps it alive without its first client. */
  skillOffers(apiKeyId: string, waitUntil: WaitUntil): Promise<SkillOffers>;
  /** Cached in the same way. */
  settings(waitUntil: WaitUntil): Promise<Settings>;
  fetch: typeof globalThis.fetch;
  now(): number;
  newId(): string;
  log: Logger;
}

/** Hears how a request goes, for keys that want it remembered. */
export interface ExchangeObserver {
  /** A provider is about to be asked; the last one is the one that answered. */
  onRoute(route: ModelRoute): void;
  /** A reply of our own is being made; it rejects when the provider fails. `signal` fires when the client leaves. */
  onExchange(reply: Promise<Pick<Reply, 'report'>>, signal: AbortSignal): void;
}

/** One request of a client, with what the HTTP layer knows of it. */
export interface GatewayRequest {
  adapter: ProviderAdapter;
  /** Path of the provider's endpoint behind its base URL; `isForwarded` when the reply goes to the client as it comes. */
  path(model: string, isForwarded: boolean): string;
  body: JsonObject;
  /** True for requests that are only passed on, such as counting tokens. */
  isForwarded: boolean;
  /** The bytes that `body` was read from. */
  bytes: Uint8Array<ArrayBuffer>;
  headers: Headers;
  apiKeyId: string;
  requestId: string;
  /** Where the request came in. */
  location: NonNullable<ExecuteContext['location']>;
  /** Fires when the client leaves. */
  signal: AbortSignal;
  waitUntil: WaitUntil;
  stopwatch: Stopwatch;
  observer?: ExchangeObserver;
}

export type ResultMode = Settings['resultMode'];

/** What both kinds of replies work on. */
export interface Exchange {
  dependencies: GatewayDependencies;
  request: GatewayRequest;
  settings: Settings;
  /** The client's request, suspended turns restored, without our tools. */
  original: JsonObject;
  /** `original` with our tools. */
  injected: JsonObject;
  selected: SelectedTools;
  resultMode: ResultMode;
  /** What was run before the first round, since a person had approved it. */
  approvedExecutions: readonly ExecutionSummary[];
  /** Opens one upstream call. */
  send(body: JsonObject, signal: AbortSignal): Promise<Response>;
}
