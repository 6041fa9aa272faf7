import type { JsonObject } from '../json.ts';
import type { ProviderAdapter, RequestFacts, ToolCall } from '../providers/adapter.ts';
import { detectBackgroundReason } from '../skills/background-reason.ts';
import { selectAutoSkills } from '../skills/scoring.ts';
import type { Skill } from '../skills/skill.ts';
import { type OfferedSkill, type OfferedSkills, sortByKey } from './offered-skills.ts';

/** The skills that one request offers to the model, and what its calls mean. */
export interface SelectedTools {
  /** Before the client's tools: skills that are `on`. */
  before: readonly OfferedSkill[];
  /** Behind the client's tools: skills that scored. */
  after: readonly OfferedSkill[];
  /** The skill that a call means, or undefined for a call of the client's. */
  skillFor(call: Pick<ToolCall, 'name'>): Skill | undefined;
}

export interface SelectionContext {
  facts: RequestFacts;
  headers: Headers;
  adapter: ProviderAdapter;
  /** The format of the provider, when it differs from the client's in name. */
  upstreamFormat: string;
  minScore: number;
  maxSkills: number;
}

/** Names under which models know built-in skills from elsewhere. */
const BUILTIN_ALIASES: Readonly<Record<string, string>> = { omniroute_web_search: 'web_search' };

function scoreAutoSkills(offered: OfferedSkills, { facts, headers, adapter, upstreamFormat, minScore, maxSkills }: SelectionContext) {
  if (offered.auto === undefined || maxSkills === 0) return [];
  const backgroundReason = detectBackgroundReason({
    headers,
    maxOutputTokens: facts.maxOutputTokens,
    systemText: facts.systemText,
    userMessageCount: facts.userMessageCount,
  });
  const texts = [[adapter.format, upstreamFormat, backgroundReason ?? ''].join('\n'), ...facts.texts];
  return selectAutoSkills(offered.auto, { texts, provider: adapter.hint, backgroundReason }, { minScore, maxSkills });
}

/** Chooses the skills for a request; undefined when it gets none. A name that the client uses stays the client's. */
export function selectTools(offered: OfferedSkills, context: SelectionContext): SelectedTools | undefined {
  const { facts, adapter } = context;
  if (!facts.acceptsTools) return undefined;
  const taken = new Set(facts.clientToolNames);
  let room = adapter.maxTools - facts.clientToolCount;
  const take = (candidates: readonly OfferedSkill[]) =>
    candidates.filter(({ toolName }) => {
      if (room <= 0 || taken.has(toolName)) return false;
      taken.add(toolName);
      room -= 1;
      return true;
    });
  const before = take(offered.on);
  const scored = scoreAutoSkills(offered, context).flatMap((skill) => offered.of(skill) ?? []);
  const after = sortByKey(take(scored));
  if (before.length === 0 && after.length === 0) return undefined;

  const owned = new Map<string, Skill>();
  for (const { skill, key, toolName } of [...before, ...after]) {
    owned.set(toolName, skill);
    owned.set(key, skill);
  }
  const ownedAlias = (name: string) => {
    const target = facts.clientToolNames.has(name) ? undefined : BUILTIN_ALIASES[name];
    return target === undefined
      ? undefined
      : [...before, ...after].find(({ skill }) => skill.kind === 'builtin' && skill.name === target)?.skill;
  };
  return { before, after, skillFor: ({ name }) => owned.get(name) ?? ownedAlias(name) };
}

/** The request with the selected tools around the client's own. */
export function injectSelected(adapter: ProviderAdapter, request: JsonObject, selected: SelectedTools): JsonObject {
  const toolsOf = (offered: readonly OfferedSkill[]) => offered.map(({ toolFor }) => toolFor(adapter));
  return adapter.injectTools(request, toolsOf(selected.before), toolsOf(selected.after));
}
