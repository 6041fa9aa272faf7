import type * as z from 'zod';
import type { AgentSkill } from '../agent-skills/agent-skill.ts';
import type { JsonObject } from '../json.ts';
import type { Route } from '../routing-memory/recommend-route.ts';
import type { RoutingMemoryStore } from '../routing-memory/routing-memory-store.ts';
import type { Skill } from '../skills/skill.ts';

/** Who asks, and what the agent's skills may use. */
export interface A2ASkillContext {
  /** Owner of what is asked for. */
  apiKeyId: string;
  /** Whether the outcomes of the key's requests are remembered. */
  remembersOutcomes: boolean;
  searchMemory: RoutingMemoryStore['search'];
  /** Names of the configured providers with the format that each speaks. */
  providers: readonly { name: string; format: string }[];
  /** Where a request goes when nothing speaks for anything else; undefined when no provider is configured. */
  defaultRoute(): Promise<Route | undefined>;
  /** The skills that the key's models may be offered or that it may run itself. */
  visibleSkills(): Promise<readonly Skill[]>;
  /** The texts that teach agents how to use the product; REST and MCP have them in full. */
  howToTexts(): Promise<readonly AgentSkill[]>;
  /** The skills of the agent itself. */
  agentSkills(): readonly A2ASkill[];
}

/** A result: for people, and for programs. */
export interface A2AAnswer {
  text: string;
  data: JsonObject;
}

/** Something that the agent can be asked for. */
export interface A2ASkill<Input = unknown> {
  id: string;
  name: string;
  description: string;
  tags: string[];
  /** Texts with which it may be asked. */
  examples: string[];
  input: z.ZodType<Input>;
  /** The field that a text stands for; left out by a skill that takes none. */
  textField?: string;
  /** Every question ends here; what is thrown fails the task without saying why. */
  execute(input: Input, context: A2ASkillContext): Promise<A2AAnswer>;
}

export interface A2ASkillRegistry {
  /** Throws an Error when there is one of this id. */
  register<Input>(skill: A2ASkill<Input>): void;
  get(id: string): A2ASkill | undefined;
  /** In the order in which they were registered; the first one is asked when a message names none. */
  list(): readonly A2ASkill[];
}

export function createA2ASkillRegistry(): A2ASkillRegistry {
  const skills = new Map<string, A2ASkill>();
  return {
    register(skill) {
      if (skills.has(skill.id)) throw new Error(`The A2A skill ${skill.id} is registered twice`);
      skills.set(skill.id, skill as A2ASkill);
    },
    get: (id) => skills.get(id),
    list: () => [...skills.values()],
  };
}
