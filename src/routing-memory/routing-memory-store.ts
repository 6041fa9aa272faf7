/** How one request of a key went. */
export interface RoutingOutcome {
  /** As the configuration names it. */
  provider: string;
  /** As the provider knows it. */
  model: string;
  /** `name@version` of the skills that ran, each once. */
  skills: string[];
  success: boolean;
  /** From the request to the end of the reply; null when the end was not seen. */
  latencyMs: number | null;
  /** As the provider counts them, summed over rounds; null when it did not say. */
  inputTokens: number | null;
  outputTokens: number | null;
  /** The distinct words of the task. */
  digest: string[];
  /** ISO 8601 UTC. */
  createdAt: string;
}

export interface RoutingMemoryStore {
  /** Does nothing when the key is gone or does not want it any more. */
  record(apiKeyId: string, outcome: RoutingOutcome): Promise<void>;
  /** The key's own outcomes whose digest has at least one of the words, the best matches first, and how many it has in all. */
  search(apiKeyId: string, words: readonly string[], limit: number): Promise<{ found: RoutingOutcome[]; total: number }>;
  /** Outcomes that are over, of all keys; tells how many went. */
  deleteOlderThan(cutoff: Date): Promise<number>;
}

/** Most outcomes that are kept of a key. */
export const MAX_OUTCOMES_PER_KEY = 1_000;
/** How long an outcome is kept. */
export const OUTCOME_RETENTION_DAYS = 90;
