import type { oas31 } from 'zod-openapi';
import type { OpenApiDocument } from '../../src/api/openapi-document.ts';
import type { DocumentedOperation, Schema } from '../../src/api/read-openapi.ts';
import { describeValue, memberLines, outlineOf, referencesIn } from './describe-schema.ts';

/** Errors of every operation that has a caller, a body or a query, which the text names once. */
const COMMON_ERRORS = new Set([
  'unauthorized',
  'forbidden',
  'rate_limited',
  'database_unavailable',
  'internal_error',
  'management_not_configured',
  'invalid_request',
  'invalid_json',
  'payload_too_large',
]);

/** `GET /api/skills/{id}` */
export const operationName = ({ method, path }: DocumentedOperation): string => `${method} ${path}`;

/** Whom an operation answers: the scope of an API key, the management, or anyone. */
function callerOf({ security = [] }: oas31.OperationObject): string {
  const scope = security.find((each) => each.apiKeyBearer !== undefined)?.apiKeyBearer?.[0];
  if (scope === undefined) return 'anyone';
  return scope === 'manage' ? 'management' : `key with \`${scope}\``;
}

const responsesOf = ({ responses = {} }: oas31.OperationObject) => Object.entries(responses) as [string, oas31.ResponseObject][];
const schemasOf = (content: oas31.ContentObject = {}): [string, Schema | undefined][] =>
  Object.entries(content).map(([type, media]) => [type, (media as { schema?: Schema }).schema]);

function ownErrors(operation: oas31.OperationObject): string[] {
  return responsesOf(operation).flatMap(([status, { description }]) =>
    [...description.matchAll(/`(\w+)`/g)].flatMap(([, code = '']) =>
      Number(status) < 400 || COMMON_ERRORS.has(code) ? [] : [`\`${code}\` ${status}`],
    ),
  );
}

function answerLine(operation: oas31.OperationObject, errors: readonly string[]): string {
  const answers = responsesOf(operation).filter(([status]) => status.startsWith('2'));
  const told = answers.flatMap(([status, { content }]) =>
    schemasOf(content).map(([type, schema]) => {
      const outline = type === 'application/json' && schema !== undefined ? outlineOf(schema) : '';
      return `${status} ${outline === '' ? type : `\`${outline}\``}`;
    }),
  );
  return `Answers ${told.join(', or ')}.${errors.length === 0 ? '' : ` Its own errors: ${errors.join(', ')}.`}`;
}

const parameterLines = ({ parameters = [] }: oas31.OperationObject, place: 'query' | 'header'): string[] =>
  (parameters as oas31.ParameterObject[])
    .filter((each) => each.in === place)
    .map(({ name, schema, description }) => {
      const note = description === undefined ? '' : `. ${description}`;
      return `- \`${name}\` (${place}): ${describeValue(schema as Schema)}${note}`;
    });

/** What all operations of a method have in common, so that it is said once. */
interface Common {
  method: string;
  headers: readonly string[];
  errors: readonly string[];
}

function commonOf(operations: readonly DocumentedOperation[]): Common[] {
  const methods = [...new Set(operations.map(({ method }) => method))];
  return methods.flatMap((method) => {
    const [first, ...others] = operations.filter((each) => each.method === method).map(({ operation }) => operation);
    if (first === undefined || others.length === 0) return [];
    const inAll = (linesOf: (operation: oas31.OperationObject) => string[]) =>
      linesOf(first).filter((line) => others.every((each) => linesOf(each).includes(line)));
    return [{ method, headers: inAll((operation) => parameterLines(operation, 'header')), errors: inAll(ownErrors) }];
  });
}

function commonBlock({ method, headers, errors }: Common): string[] {
  return [
    ...(headers.length === 0 ? [] : [`Each \`${method}\` takes:\n\n${headers.join('\n')}`]),
    ...(errors.length === 0 ? [] : [`Each \`${method}\` may answer ${errors.join(', ')}.`]),
  ];
}

function operationBlock(documented: DocumentedOperation, common: readonly Common[]): string {
  const { operation } = documented;
  const { headers = [], errors = [] } = common.find(({ method }) => method === documented.method) ?? {};
  const { content } = (operation.requestBody ?? {}) as oas31.RequestBodyObject;
  const body = schemasOf(content)[0]?.[1];
  const note = operation.description?.replace(/(\n\n|^)Needs (an API key|the management)[^\n]*$/, '').replaceAll(/\s+/g, ' ');
  const lines = [
    ...parameterLines(operation, 'query'),
    ...parameterLines(operation, 'header').filter((line) => !headers.includes(line)),
    ...(body === undefined ? [] : memberLines(body)),
  ];
  const answer = answerLine(
    operation,
    ownErrors(operation).filter((error) => !errors.includes(error)),
  );
  return [`### ${operationName(documented)}`, ...(note ? [note] : []), ...(lines.length === 0 ? [] : [lines.join('\n')]), answer].join(
    '\n\n',
  );
}

/** What alike operations at several paths say, said once: the block of the first of each summary. */
const withoutRepeats = (operations: readonly DocumentedOperation[]): DocumentedOperation[] =>
  operations.filter(({ operation }, index) => operations.findIndex((each) => each.operation.summary === operation.summary) === index);

function objectLines(document: OpenApiDocument, operations: readonly DocumentedOperation[]): string[] {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    for (const name of referencesIn(value)) {
      if (found.has(name) || /Error$/.test(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  visit(operations.map(({ operation }) => responsesOf(operation).filter(([status]) => status.startsWith('2'))));
  return [...found].map((name) => `- \`${name}\`: \`${outlineOf(schemas[name] ?? {})}\``);
}

/** The part of a SKILL.md that tells what the operations of a tag take and answer. */
export function renderOperations(document: OpenApiDocument, operations: readonly DocumentedOperation[]): string {
  const rows = operations.map((each) => `| \`${operationName(each)}\` | ${callerOf(each.operation)} | ${each.operation.summary} |`);
  const objects = objectLines(document, operations);
  const shown = withoutRepeats(operations);
  const common = commonOf(shown);
  return [
    '## Endpoints',
    ['| endpoint | who | what |', '|---|---|---|', ...rows].join('\n'),
    ...common.flatMap(commonBlock),
    ...shown.map((operation) => operationBlock(operation, common)),
    ...(objects.length === 0 ? [] : [`Objects:\n\n${objects.join('\n')}`]),
  ].join('\n\n');
}
