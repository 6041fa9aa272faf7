import type { WireFormat } from '../env.ts';
import type { JsonObject } from '../json.ts';
import type { ProviderAdapter } from '../providers/adapter.ts';
import type { ScoringIndex } from '../skills/scoring-index.ts';
import type { ScoringMemory } from '../skills/scoring-memory.ts';
import { resolveVersion } from '../skills/semver.ts';
import { isExecutable, type Skill, skillKey } from '../skills/skill.ts';
import { toolName } from '../skills/tool-name.ts';

/** A skill that a model may be offered. */
export interface OfferedSkill {
  skill: Skill;
  key: string;
  toolName: string;
  /** Its tool in a provider's shape, made when it is first asked for. */
  toolFor(adapter: ProviderAdapter): JsonObject;
}

/** One owner's offered skills, compiled once per load of the registry. */
export interface OfferedSkills {
  /** Always injected, sorted by name@version. */
  on: readonly OfferedSkill[];
  /** Injected when they score; undefined when there are none, so that no request is searched for nothing. */
  auto: ScoringIndex | undefined;
  of(skill: Skill): OfferedSkill | undefined;
}

/** What the setting `customSkillExecutionEnabled` chooses between. */
export interface SkillOffers {
  all: OfferedSkills;
  builtinOnly: OfferedSkills;
}

const byKey = (left: OfferedSkill, right: OfferedSkill): number => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0);

/** Of each name every version that is `on`, else the highest one. */
function chooseVersions(skills: readonly Skill[]): Skill[] {
  const byName = Map.groupBy(skills, (skill) => skill.name);
  return [...byName.values()].flatMap((versions) => {
    const on = versions.filter((skill) => skill.mode === 'on');
    if (on.length > 0) return on;
    const highest = resolveVersion(versions, '*');
    return highest ? [highest] : [];
  });
}

/** Compiles the skills that models may be offered: executable, and not only for explicit calls. */
export async function compileSkillOffers(skills: readonly Skill[], memory: ScoringMemory): Promise<SkillOffers> {
  const builtins = skills.filter(({ kind }) => kind === 'builtin');
  const [all, builtinOnly] = await Promise.all([compileOfferedSkills(skills, memory), compileOfferedSkills(builtins, memory)]);
  return { all, builtinOnly };
}

/** Loaded when it is needed: the stop words alone are a fifth of the worker, and would hold up its start. */
async function compileScoring(skills: readonly Skill[], memory: ScoringMemory): Promise<ScoringIndex> {
  const { buildScoringIndex } = await import('../skills/scoring-index.ts');
  return buildScoringIndex(skills, memory);
}

async function compileOfferedSkills(skills: readonly Skill[], memory: ScoringMemory): Promise<OfferedSkills> {
  const chosen = chooseVersions(skills.filter((skill) => isExecutable(skill) && skill.policy !== 'manual'));
  const offered = await Promise.all(
    chosen.map(async (skill): Promise<OfferedSkill> => {
      const name = await toolName(skill);
      const tools = new Map<WireFormat, JsonObject>();
      const toolFor = (adapter: ProviderAdapter) => {
        const tool =
          tools.get(adapter.format) ?? adapter.defineTool({ name, description: skill.description, parameters: skill.schema.input });
        tools.set(adapter.format, tool);
        return tool;
      };
      return { skill, key: skillKey(skill), toolName: name, toolFor };
    }),
  );
  const bySkill = new Map(offered.map((entry) => [entry.skill, entry]));
  const auto = chosen.filter((skill) => skill.mode === 'auto');
  return {
    on: offered.filter((entry) => entry.skill.mode === 'on').sort(byKey),
    auto: auto.length > 0 ? await compileScoring(auto, memory) : undefined,
    of: (skill) => bySkill.get(skill),
  };
}

/** Sorts by name@version, so that equal selections have equal bytes. */
export const sortByKey = (offered: readonly OfferedSkill[]): OfferedSkill[] => [...offered].sort(byKey);
