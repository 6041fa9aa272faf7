import type { Skill, SkillMode, SourceProvider } from './skill.ts';

export interface SkillFilter {
  /** Words that must all stand in name, description or tags; case and accents do not matter. */
  q?: string | undefined;
  mode?: SkillMode | undefined;
  source?: SourceProvider | undefined;
}

/**
 * What may change of a stored skill. `enabled` alone sets the mode: off, or back to what it was before it went off. `mode` sets `enabled`,
 * and decides when both are there.
 */
export type SkillChanges = {
  [Field in 'enabled' | 'mode' | 'policy' | 'timeoutMs' | 'maxRetries' | 'idempotent' | 'description' | 'schema' | 'tags']?:
    | Skill[Field]
    | undefined;
};

/** Where skills are kept. Every method rejects with an AppError `database_unavailable` when that cannot be reached. */
export interface SkillStore {
  /**
   * The owner's own skills, then the `system` ones that the owner has no version of its own of; with a reference only those of that id or name.
   * `handler` of kind `instructions` is empty: a text may have 256 KiB, and every isolate keeps what is listed here.
   */
  listVisible(apiKeyId: string, idOrName?: string): Promise<Skill[]>;
  /** Skills of all owners by name and version; pages count from 1. */
  listPage(filter: SkillFilter, page: number, limit: number): Promise<{ data: Skill[]; total: number }>;
  get(id: string): Promise<Skill | undefined>;
  /** Rejects with an AppError `skill_exists` when the owner has this name and version already. */
  insert(skill: Skill): Promise<void>;
  /** The skill as it is now; undefined when there is none of this id. */
  update(id: string, changes: SkillChanges, now: Date): Promise<Skill | undefined>;
  /** Whether there was one. Its executions stay. */
  delete(id: string): Promise<boolean>;
}
