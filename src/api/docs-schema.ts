import { html } from 'hono/html';
import type { oas31 } from 'zod-openapi';
import { isReference, nameOf, type Schema } from './read-openapi.ts';

export type Html = ReturnType<typeof html>;

/** One row of a table: a member of an object, also of one inside it. */
interface Member {
  path: string;
  schema: Schema;
  isRequired: boolean;
}

const joined = (parts: readonly Html[], separator: string): Html =>
  html`${parts.map((part, position) => (position === 0 ? part : html`${separator}${part}`))}`;

/** `1 to 100`, `at least 1`; nothing where no bound is. */
function boundsOf(min: number | undefined, max: number | undefined, unit: string): string[] {
  const bounded = max !== undefined && max < Number.MAX_SAFE_INTEGER ? max : undefined;
  const lowest = min !== undefined && min > Number.MIN_SAFE_INTEGER ? min : undefined;
  if (lowest !== undefined && bounded !== undefined) return [`${lowest} to ${bounded}${unit}`];
  if (bounded !== undefined) return [`at most ${bounded}${unit}`];
  return lowest === undefined ? [] : [`at least ${lowest}${unit}`];
}

function constraintsOf(schema: oas31.SchemaObject): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  return [
    ...boundsOf(minimum, maximum, ''),
    ...boundsOf(minLength, maxLength, ' characters'),
    ...boundsOf(minItems, maxItems, ' items'),
    ...(format === undefined ? [] : [format]),
    ...(pattern === undefined || format !== undefined ? [] : [`matches ${pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ].join(', ');
}

/** What a value is, in a few words: `array of Skill`, `"on" or "off"`. */
export function typeOf(schema: Schema): Html {
  if (isReference(schema)) return html`<a href="#schema-${nameOf(schema)}">${nameOf(schema)}</a>`;
  const { type, items, anyOf, oneOf, enum: values } = schema;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (values !== undefined)
    return joined(
      values.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' or ',
    );
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return joined(choices.map(typeOf), ' or ');
  if (type === 'array' && items !== undefined) return html`array of ${typeOf(items)}`;
  return html`${Array.isArray(type) ? type.join(' or ') : (type ?? 'any JSON')}`;
}

/** The object that a schema is, or that the items of its array are. */
function objectIn(schema: Schema): { object: oas31.SchemaObject; suffix: string } | undefined {
  if (isReference(schema)) return undefined;
  if (schema.properties !== undefined) return { object: schema, suffix: '' };
  const inner = schema.type === 'array' && schema.items !== undefined ? objectIn(schema.items) : undefined;
  return inner && { object: inner.object, suffix: `[]${inner.suffix}` };
}

function membersOf(schema: Schema, prefix = ''): Member[] {
  const found = objectIn(schema);
  if (found === undefined) return [];
  const { object, suffix } = found;
  const start = prefix === '' ? '' : `${prefix}${suffix}.`;
  return Object.entries(object.properties ?? {}).flatMap(([name, member]) => [
    { path: `${start}${name}`, schema: member, isRequired: object.required?.includes(name) ?? false },
    ...membersOf(member, `${start}${name}`),
  ]);
}

/** Text in which code stands between back quotes. */
export const inline = (text: string): Html =>
  html`${text.split('`').map((part, position) => (position % 2 === 1 ? html`<code>${part}</code>` : part))}`;

function noteOf(schema: Schema): Html {
  const constraints = isReference(schema) ? '' : constraintsOf(schema);
  return html`${inline(schema.description ?? '')}${schema.description && constraints ? '. ' : ''}${constraints}`;
}

/** A table row for one named value; `mark` says what is special of it. */
export const memberRow = (name: string, schema: Schema, mark: string, place?: string): Html => html`<tr>
  <th scope="row"><code>${name}</code>${mark === '' ? '' : html` <small>${mark}</small>`}</th>
  <td>${place === undefined ? '' : html`${place}, `}${typeOf(schema)}</td>
  <td>${noteOf(schema)}</td>
</tr>`;

/** A table of named values under a caption. */
export const memberTable = (caption: string, rows: readonly Html[]): Html => html`<div class="scroll"><table>
  <caption>${caption}</caption>
  <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
  <tbody>${rows}</tbody>
</table></div>`;

/** A schema: the members of an object as a table, anything else in words. Of what callers send, marks what they must; of answers, what may be missing. */
export function schemaBlock(schema: Schema, caption: string, isSent: boolean): Html {
  const members = membersOf(schema);
  if (members.length === 0) return html`<p>${caption}: ${typeOf(schema)}</p>`;
  const markOf = ({ isRequired }: Member) => (isRequired === isSent ? (isSent ? 'required' : 'optional') : '');
  return memberTable(
    caption,
    members.map((member) => memberRow(member.path, member.schema, markOf(member))),
  );
}
