import { asText, type JsonObject } from '../src/json.ts';
import { resolveVersion } from '../src/skills/semver.ts';
import { CommandError, EXIT_CODE, usageError } from './exit-code.ts';
import { type Gateway, pathTo } from './gateway.ts';
import { itemsOf } from './session.ts';

const PAGE_SIZE = '200';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Every skill whose name, description or tags have the text in them. */
export async function* searchSkills(gateway: Gateway, q: string | undefined): AsyncGenerator<JsonObject> {
  for (let page = 1; ; page += 1) {
    const answer = await gateway.call('/api/skills', { query: { q, page: String(page), limit: PAGE_SIZE } });
    yield* itemsOf(answer);
    if (typeof answer.totalPages !== 'number' || page >= answer.totalPages) return;
  }
}

const describe = ({ id, name, version, apiKeyId }: JsonObject): string => `\n  ${id}  ${name}@${version}  of ${apiKeyId}`;

/**
 * The skill that a reference means: its id, `name`, `name@version` or `name@` and a constraint, of which the highest version counts.
 * Rejects when there is none, and when several owners have one of that name.
 */
export async function findSkill(gateway: Gateway, reference: string): Promise<JsonObject> {
  if (UUID.test(reference)) return gateway.call(pathTo('/api/skills', reference));
  const [name = '', constraint = '*'] = reference.split(/@(.*)/s);
  if (name === '') throw usageError('Name the skill: its id, name or name@version');
  const named: (JsonObject & { version: string })[] = [];
  for await (const skill of searchSkills(gateway, name)) if (skill.name === name) named.push({ ...skill, version: asText(skill.version) });
  const highest = resolveVersion(named, constraint);
  if (highest === undefined) {
    const versions = named.map(({ version }) => version).join(', ');
    throw new CommandError(EXIT_CODE.failed, `No skill ${reference}${versions === '' ? '' : `; there is ${name} in ${versions}`}`, {
      code: 'skill_not_found',
      hint: 'See omniroute-edge skills list',
    });
  }
  const same = named.filter(({ version }) => version === highest.version);
  if (same.length > 1) throw usageError(`Several skills are ${name}@${highest.version}; name one by its id:${same.map(describe).join('')}`);
  return highest;
}
