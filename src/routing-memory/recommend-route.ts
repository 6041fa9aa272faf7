import type { RoutingOutcome } from './routing-memory-store.ts';
import { similarities } from './similarity.ts';

/** Provider and model; the model is null where the configuration names none. */
export interface Route {
  provider: string;
  model: string | null;
}

/** One model's record in similar requests. */
export interface Candidate {
  provider: string;
  model: string;
  /** 0 to 1, what candidates are ranked by. */
  score: number;
  /** 0 to 1, mean of the requests that are most similar. */
  similarity: number;
  requests: number;
  successes: number;
  /** Means over the successful ones; null when not known. */
  latencyMs: number | null;
  tokens: number | null;
  /** Most input that it has handled with success. */
  largestInputTokens: number | null;
}

/** One remembered request, without any of its text but the words that it shares with the task. */
export interface SimilarRequest {
  at: string;
  provider: string;
  model: string;
  success: boolean;
  latencyMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  skills: string[];
  similarity: number;
  sharedWords: string[];
}

export interface Recommendation extends Route {
  basis: 'memory' | 'default';
  reason: string;
  evidence: {
    /** All that is remembered of the key. */
    remembered: number;
    /** Those of them that are similar enough. */
    similar: number;
    candidates: Candidate[];
    /** The most similar. */
    requests: SimilarRequest[];
  };
}

export interface RecommendOptions {
  /** The words of the task. */
  words: readonly string[];
  /** Outcomes with any of them, the best matches first, and how many there are of the key in all. */
  found: readonly RoutingOutcome[];
  total: number;
  /** Whether the provider is still there to be asked. */
  isConfigured(provider: string): boolean;
  /** Input tokens that the model has to cope with. */
  neededTokens: number | undefined;
  /** What is asked when nothing speaks for anything else. */
  fallback: Route;
}

/** A request with less of the task's words, by weight, is about something else. */
const MIN_SIMILARITY = 0.25;
const MOST_SIMILAR = 5;
const MAX_CANDIDATES = 5;
const MAX_REQUESTS = 10;

/** What makes a candidate's score. */
const WEIGHTS = { similarity: 0.3, success: 0.45, latency: 0.15, tokens: 0.1 };
/** What is not known neither helps nor harms. */
const UNKNOWN = 0.5;

type Similar = RoutingOutcome & { similarity: number; sharedWords: string[] };

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);
const roundOrNull = (value: number | null): number | null => (value === null ? null : Math.round(value));

const tokensOf = ({ inputTokens, outputTokens }: RoutingOutcome): number | null =>
  inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;

/** Each with 1.0 for what needs least of it. */
const thrift = (own: number | null, all: readonly (number | null)[]): number =>
  own === null ? UNKNOWN : Math.max(1, Math.min(...known(all))) / Math.max(1, own);

function describe(rows: readonly Similar[]) {
  const [{ provider, model }] = rows as [Similar, ...Similar[]];
  const successful = rows.filter(({ success }) => success);
  const weight = rows.reduce((sum, { similarity }) => sum + similarity, 0);
  const wonWeight = successful.reduce((sum, { similarity }) => sum + similarity, 0);
  const inputs = known(successful.map(({ inputTokens }) => inputTokens));
  return {
    provider,
    model,
    similarity: mean(rows.slice(0, MOST_SIMILAR).map((row) => row.similarity)) ?? 0,
    // One request more of either outcome than there were, so that a single success does not beat a long record.
    success: (wonWeight + 1) / (weight + 2),
    requests: rows.length,
    successes: successful.length,
    latencyMs: mean(known(successful.map(({ latencyMs }) => latencyMs))),
    tokens: mean(known(successful.map(tokensOf))),
    largestInputTokens: inputs.length === 0 ? null : Math.max(...inputs),
  };
}

/** The models of similar requests, the best first. */
function rank(similar: readonly Similar[]): Candidate[] {
  const byModel = Map.groupBy(similar, ({ provider, model }) => JSON.stringify([provider, model]));
  const described = [...byModel.values()].map(describe);
  const latencies = described.map(({ latencyMs }) => latencyMs);
  const tokens = described.map((candidate) => candidate.tokens);
  return described
    .map(({ success, ...candidate }) => ({
      ...candidate,
      score: round(
        WEIGHTS.similarity * candidate.similarity +
          WEIGHTS.success * success +
          WEIGHTS.latency * thrift(candidate.latencyMs, latencies) +
          WEIGHTS.tokens * thrift(candidate.tokens, tokens),
      ),
      similarity: round(candidate.similarity),
      latencyMs: roundOrNull(candidate.latencyMs),
      tokens: roundOrNull(candidate.tokens),
    }))
    .sort(
      (left, right) =>
        right.score - left.score ||
        right.requests - left.requests ||
        (`${left.provider}/${left.model}` < `${right.provider}/${right.model}` ? -1 : 1),
    );
}

function findSimilar({ words, found, total, isConfigured }: RecommendOptions): Similar[] {
  const digests = found.map(({ digest }) => new Set(digest));
  const scores = similarities(words, digests, total);
  return found
    .map(
      (outcome, index): Similar => ({
        ...outcome,
        similarity: scores[index] ?? 0,
        sharedWords: words.filter((word) => digests[index]?.has(word)),
      }),
    )
    .filter(({ similarity, provider }) => similarity >= MIN_SIMILARITY && isConfigured(provider))
    .sort((left, right) => right.similarity - left.similarity);
}

const toRequest = ({ createdAt, digest: _, similarity, ...row }: Similar): SimilarRequest => ({
  at: createdAt,
  ...row,
  similarity: round(similarity),
});

const times = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const nameOf = ({ provider, model }: Route): string =>
  model === null ? `provider ${provider}, whose models the configuration does not name` : `${provider}/${model}`;

function praise({ provider, model, requests, successes, latencyMs, tokens }: Candidate, others: number): string {
  const facts = [
    `${successes} of ${times(requests, 'similar request')} succeeded`,
    ...(latencyMs === null ? [] : [`${latencyMs} ms on average`]),
    ...(tokens === null ? [] : [`${tokens} tokens on average`]),
  ];
  const rivals = others === 0 ? 'no other model was asked anything similar' : `it ranks before ${times(others, 'other model')}`;
  return `${provider}/${model}: ${facts.join(', ')}; ${rivals}.`;
}

/** Recommends where a task goes. The same memory gives the same answer. */
export function recommendRoute(options: RecommendOptions): Recommendation {
  const { total, neededTokens, fallback } = options;
  const similar = findSimilar(options);
  const candidates = rank(similar);
  const succeeded = candidates.filter(({ successes }) => successes > 0);
  const coping = succeeded.filter((candidate) => neededTokens === undefined || (candidate.largestInputTokens ?? 0) >= neededTokens);
  const best = coping[0] ?? succeeded[0];
  const evidence = {
    remembered: total,
    similar: similar.length,
    candidates: candidates.slice(0, MAX_CANDIDATES),
    requests: similar.slice(0, MAX_REQUESTS).map(toRequest),
  };
  const byDefault = (why: string): Recommendation => ({
    ...fallback,
    basis: 'default',
    reason: `${why} The default is ${nameOf(fallback)}.`,
    evidence,
  });
  if (total === 0) return byDefault('Nothing is remembered of this key yet.');
  if (similar.length === 0) return byDefault(`None of the ${times(total, 'request')} that are remembered of this key is similar.`);
  if (best === undefined) return byDefault(`All ${times(similar.length, 'similar request')} failed.`);
  const warning =
    coping.length === 0 && neededTokens !== undefined ? ` No model is known to have handled ${neededTokens} tokens of input.` : '';
  const { provider, model } = best;
  return { provider, model, basis: 'memory', reason: praise(best, candidates.length - 1) + warning, evidence };
}
