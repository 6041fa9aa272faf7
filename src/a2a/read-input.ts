import { isJsonObject, type JsonObject } from '../json.ts';
import type { A2ASkill, A2ASkillRegistry } from './a2a-skill.ts';
import type { SendRequest } from './dialect.ts';

export interface AskedFor {
  /** The skill that is named; undefined when none is. */
  skill: string | undefined;
  /** The input for a skill. */
  fields(skill: A2ASkill): JsonObject;
}

/**
 * What a message asks for. Its metadata name the skill (`skill`), or its data do; a text that is a skill's id names it, too. Data is the
 * skill's input as it stands or under `input`; any other text stands for the skill's main field.
 */
export function readInput({ message: { parts }, skill: named }: SendRequest, skills: A2ASkillRegistry): AskedFor {
  const text = parts
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
  const data: JsonObject = Object.assign({}, ...parts.flatMap((part) => (part.kind === 'data' ? [part.data] : [])));
  const { skill: inData, input, ...rest } = data;
  const dataNames = typeof inData === 'string' ? inData : undefined;
  const textNames = named === undefined && dataNames === undefined && skills.get(text) !== undefined;
  return {
    skill: named ?? dataNames ?? (textNames ? text : undefined),
    fields: ({ textField }) => ({
      ...(textField !== undefined && text !== '' && !textNames && { [textField]: text }),
      ...(isJsonObject(input) ? input : rest),
    }),
  };
}
