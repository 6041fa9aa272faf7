import type { Logger } from '../logger.ts';
import { createTimedCache, type TimedCache, type WaitUntil } from '../timed-cache.ts';
import { resolveVersion } from './semver.ts';
import type { Skill } from './skill.ts';
import type { SkillChanges, SkillStore } from './skill-store.ts';

const CACHE_TTL_MS = 60_000;
/** Owners whose skills one isolate keeps. */
const MAX_OWNERS = 1_000;

/** What one owner sees, and what `compile` made of it. */
export interface Catalogue<Compiled> {
  skills: readonly Skill[];
  compiled: Compiled;
}

/** What an installer gives; the registry adds the rest. */
export type NewSkill = Omit<Skill, 'id' | 'enabled' | 'createdAt' | 'updatedAt'>;

export interface Registry<Compiled> {
  /**
   * The owner's own skills and the `system` ones that they do not hide, up to 60 s old. From 30 s of age on it is refreshed in the background,
   * which `waitUntil` keeps alive. Rejects with `database_unavailable` only when nothing is cached.
   */
  catalogue(apiKeyId: string, waitUntil?: WaitUntil): Promise<Catalogue<Compiled>>;
  /** The highest version that the owner sees and the constraint allows. */
  resolveVersion(name: string, constraint: string, apiKeyId: string, waitUntil?: WaitUntil): Promise<Skill | undefined>;
  /** The skill of an id, `name` (its highest version), `name@version` or `name@<constraint>`, among what the owner sees. */
  find(reference: string, apiKeyId: string, waitUntil?: WaitUntil): Promise<Skill | undefined>;
  /** Rejects with `skill_exists` when the owner has this name and version already. */
  install(skill: NewSkill): Promise<Skill>;
  /** The skill as it is now; undefined when there is none of this id. */
  update(id: string, changes: SkillChanges): Promise<Skill | undefined>;
  /** Whether there was one. */
  remove(id: string): Promise<boolean>;
}

export interface RegistryOptions<Compiled> {
  skills: SkillStore;
  /** Called once per load, for what requests then use. */
  compile(skills: readonly Skill[]): Compiled | Promise<Compiled>;
  now: () => Date;
  newId: () => string;
  log: Logger;
}

/** The skills of all owners as one isolate sees them. Its own writes show at once, those of others within 60 s. */
export function createRegistry<Compiled>({ skills, compile, now, newId, log }: RegistryOptions<Compiled>): Registry<Compiled> {
  const cache: TimedCache<Catalogue<Compiled>> = createTimedCache({
    ttlMs: CACHE_TTL_MS,
    maxEntries: MAX_OWNERS,
    now: () => now().getTime(),
    async load(apiKeyId) {
      try {
        const visible = await skills.listVisible(apiKeyId);
        const known = cache.peek(apiKeyId);
        // Most loads find what was there, and what a compiled catalogue has learned since then is worth keeping.
        if (known && JSON.stringify(known.skills) === JSON.stringify(visible)) return known;
        return { skills: visible, compiled: await compile(visible) };
      } catch (error) {
        log.error('skills.registry.load_failed', { error });
        throw error;
      }
    },
  });
  const catalogue = (apiKeyId: string, waitUntil: WaitUntil = () => {}) => cache.get(apiKeyId, waitUntil);

  interface Question {
    idOrName: string;
    apiKeyId: string;
    choose(candidates: readonly Skill[]): Skill | undefined;
  }

  /** What the cache does not know may have been installed through another isolate. */
  async function findVisible({ idOrName, apiKeyId, choose }: Question, waitUntil?: WaitUntil): Promise<Skill | undefined> {
    const cached = choose((await catalogue(apiKeyId, waitUntil)).skills);
    return cached ?? choose(await skills.listVisible(apiKeyId, idOrName));
  }

  const named = (name: string, constraint: string) => (candidates: readonly Skill[]) =>
    resolveVersion(
      candidates.filter((skill) => skill.name === name),
      constraint,
    );

  async function write<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } finally {
      cache.drop();
    }
  }

  return {
    catalogue,
    resolveVersion: (name, constraint, apiKeyId, waitUntil) =>
      findVisible({ idOrName: name, apiKeyId, choose: named(name, constraint) }, waitUntil),
    find(reference, apiKeyId, waitUntil) {
      const at = reference.indexOf('@');
      if (at >= 0) return this.resolveVersion(reference.slice(0, at), reference.slice(at + 1), apiKeyId, waitUntil);
      const highest = named(reference, 'latest');
      const choose = (candidates: readonly Skill[]) => candidates.find(({ id }) => id === reference) ?? highest(candidates);
      return findVisible({ idOrName: reference, apiKeyId, choose }, waitUntil);
    },
    async install(skill) {
      const time = now().toISOString();
      const installed: Skill = { ...skill, id: newId(), enabled: skill.mode !== 'off', createdAt: time, updatedAt: time };
      await write(skills.insert(installed));
      return installed;
    },
    update: (id, changes) => write(skills.update(id, changes, now())),
    remove: (id) => write(skills.delete(id)),
  };
}
