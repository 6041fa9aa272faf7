import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import { recommendRoute } from '../../routing-memory/recommend-route.ts';
import type { A2ASkill, A2ASkillContext, A2ASkillRegistry } from '../a2a-skill.ts';

/** What a task that needs "context", without a number, needs. */
const LONG_CONTEXT_TOKENS = 8_000;
/** Outcomes that are looked at: the best matches of the full-text search. */
const MAX_FOUND = 200;

const input = z.strictObject({
  task: z.string().trim().min(1, 'Say what the task is').max(10_000),
  /** Tokens of input that the model has to cope with; true stands for 8,000. */
  contextRequired: z.union([z.boolean(), z.int().min(1).max(10_000_000)]).default(false),
});
type Input = z.infer<typeof input>;

const SWITCHED_OFF = 'Routing memory is off for this key: PUT /api/keys/:id {"routingMemory": true} switches it on.';

async function recommend({ task, contextRequired }: Input, context: A2ASkillContext) {
  const { apiKeyId, searchMemory, providers, remembersOutcomes } = context;
  const fallback = await context.defaultRoute();
  if (fallback === undefined)
    return { provider: null, model: null, basis: 'default' as const, reason: 'No provider is configured.', evidence: null };
  // The stop words are large: only what needs them loads them.
  const { digestTask } = await import('../../routing-memory/digest-task.ts');
  const words = digestTask(task);
  const { found, total } = await searchMemory(apiKeyId, words, MAX_FOUND);
  const names = new Set(providers.map(({ name }) => name));
  const neededTokens = contextRequired === true ? LONG_CONTEXT_TOKENS : contextRequired || undefined;
  const options = { words, found, total, neededTokens, fallback, isConfigured: (provider: string) => names.has(provider) };
  const recommendation = recommendRoute(options);
  return remembersOutcomes ? recommendation : { ...recommendation, reason: `${SWITCHED_OFF} ${recommendation.reason}` };
}

const memoryAwareRouting: A2ASkill<Input> = {
  id: 'memory_aware_routing',
  name: 'Memory-aware routing',
  description:
    'Recommends the provider and model for a task from how similar requests of the same API key went: success, latency and tokens. Tells the reason and the evidence; with no such memory it says so and names the default.',
  tags: ['routing', 'memory', 'models', 'recommendation'],
  examples: ['Translate a contract from German to English', '{"task": "summarize a long report", "contextRequired": 20000}'],
  input,
  textField: 'task',
  async execute(task, context) {
    const { provider, model, basis, reason, evidence } = await recommend(task, context);
    // What can stand in a request's `model` to get just this.
    const use = model === null ? null : `${provider}/${model}`;
    return { text: reason, data: { provider, model, use, basis, reason, evidence } as unknown as JsonObject };
  },
};

export const registerA2ASkill = (registry: A2ASkillRegistry): void => registry.register(memoryAwareRouting);
