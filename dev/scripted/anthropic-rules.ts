import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { blocksOf, blocksOfType, firstBlockFault, messagesOf } from './anthropic-blocks.ts';
import { ANTHROPIC_THINKING_RULES } from './anthropic-thinking-rules.ts';
import { Refusal } from './refusal.ts';
import { firstFault, firstRepeated, type Rule } from './rules.ts';

// What Messages refuses: https://platform.claude.com/docs/en/api/messages and .../agents-and-tools/tool-use/handle-tool-calls

const VERSIONS = ['2023-01-01', '2023-06-01', '2026-10-21'];
const NEWEST_VERSION = '2026-10-21';
const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k'];
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const MAX_BREAKPOINTS = 4;

/** Throws a Refusal when the header is missing or unknown, or when the request has a field that the version has dropped. */
export function enforceVersion(version: string | undefined, request: JsonObject): void {
  if (version === undefined) throw new Refusal(400, 'anthropic-version: header is required');
  if (!VERSIONS.includes(version)) throw new Refusal(400, `anthropic-version: "${version}" is not a valid version`);
  const dropped = SAMPLING_FIELDS.find((field) => version === NEWEST_VERSION && request[field] !== undefined);
  if (dropped !== undefined) throw new Refusal(400, `${dropped}: not supported by anthropic-version ${version}`);
}

const idsOf = (message: JsonObject | undefined, type: 'tool_use' | 'tool_result'): JsonValue[] =>
  blocksOfType(message ?? {}, type).map((block) => (type === 'tool_use' ? block.id : block.tool_use_id) ?? '');

const maxTokensIsThere: Rule = ({ max_tokens: max }) =>
  typeof max === 'number' && Number.isInteger(max) && max >= 1 ? undefined : 'max_tokens: a whole number of at least 1 is required';

const messagesBeginWithTheUser: Rule = (request) => {
  const [first] = messagesOf(request);
  if (first === undefined) return 'messages: at least one message is required';
  return first.role === 'user' ? undefined : 'messages: the first message must use the "user" role';
};

const messagesAreNotEmpty: Rule = (request) => {
  const messages = messagesOf(request);
  return firstFault(messages, (message, index) =>
    blocksOf(message).length === 0 && !(index === messages.length - 1 && message.role === 'assistant')
      ? `messages.${index}: all messages must have non-empty content except for the optional final assistant message`
      : undefined,
  );
};

const textsAreNotEmpty: Rule = (request) =>
  firstBlockFault(request, ({ type, text }, path) =>
    type === 'text' && (typeof text !== 'string' || text === '') ? `${path}: text content blocks must be non-empty` : undefined,
  );

const toolNamesAreValidAndUnique: Rule = ({ tools }) => {
  const names = objectsOf(tools).map(({ name }) => name);
  const fault = firstFault(names, (name, index) =>
    typeof name === 'string' && TOOL_NAME.test(name) ? undefined : `tools.${index}.name: should match ${TOOL_NAME.source}`,
  );
  return fault ?? (firstRepeated(names) === undefined ? undefined : `tools: the name ${firstRepeated(names)} is there twice`);
};

/** Tools with a type of their own are Anthropic's and have no schema. */
const schemasAreObjectsWithoutUnionAtTheRoot: Rule = ({ tools }) =>
  firstFault(objectsOf(tools), ({ type, input_schema: schema }, index) => {
    if (type !== undefined && type !== 'custom') return undefined;
    const path = `tools.${index}.custom.input_schema`;
    if (!isJsonObject(schema) || schema.type !== 'object') return `${path}.type: must be "object"`;
    return ['oneOf', 'allOf', 'anyOf'].some((keyword) => keyword in schema)
      ? `${path}: oneOf, allOf and anyOf are not supported at the top level`
      : undefined;
  });

const toolChoiceComesWithTools: Rule = ({ tools, tool_choice: choice }) =>
  isJsonObject(choice) && objectsOf(tools).length === 0 ? 'tool_choice: may only be specified together with tools' : undefined;

const toolBlocksNeedTools: Rule = (request) =>
  objectsOf(request.tools).length === 0 &&
  messagesOf(request).some((message) => blocksOf(message).some(({ type }) => type === 'tool_use' || type === 'tool_result'))
    ? 'tools: required, since the messages have tool_use or tool_result blocks'
    : undefined;

const callsAreWellFormed: Rule = (request) =>
  firstBlockFault(request, ({ type, id, input }, path) => {
    if (type !== 'tool_use') return undefined;
    if (typeof id !== 'string' || !CALL_ID.test(id)) return `${path}.tool_use.id: should match ${CALL_ID.source}`;
    return isJsonObject(input) ? undefined : `${path}.tool_use.input: should be an object`;
  });

const callIdsAreUnique: Rule = (request) => {
  const repeated = firstRepeated(messagesOf(request).flatMap((message) => idsOf(message, 'tool_use')));
  return repeated === undefined ? undefined : `messages: tool_use ids must be unique, ${repeated} is there twice`;
};

const everyCallHasItsResultInTheNextMessage: Rule = (request) => {
  const messages = messagesOf(request);
  return firstFault(messages, (message, index) => {
    const results = idsOf(messages[index + 1], 'tool_result');
    const missing = idsOf(message, 'tool_use').filter((id) => !results.includes(id));
    return missing.length === 0
      ? undefined
      : `messages.${index}: tool_use ids were found without tool_result blocks immediately after: ${missing.join(', ')}`;
  });
};

const everyResultAnswersTheMessageBefore: Rule = (request) => {
  const messages = messagesOf(request);
  return firstFault(messages, (message, index) => {
    const calls = idsOf(messages[index - 1], 'tool_use');
    const ids = idsOf(message, 'tool_result');
    const stray = ids.find((id) => message.role !== 'user' || !calls.includes(id)) ?? firstRepeated(ids);
    return stray === undefined
      ? undefined
      : `messages.${index}: unexpected tool_use_id in tool_result blocks: ${stray}; each needs its own tool_use block in the previous message`;
  });
};

const resultsComeFirst: Rule = (request) =>
  firstFault(messagesOf(request), (message, index) => {
    const types = blocksOf(message).map(({ type }) => type === 'tool_result');
    return types.lastIndexOf(true) > types.indexOf(false) && types.includes(false)
      ? `messages.${index}: tool_result blocks must come before all other content`
      : undefined;
  });

const breakpointsAreAtMost4: Rule = ({ system, tools, messages }) => {
  const blocks = [...objectsOf(system), ...objectsOf(tools), ...objectsOf(messages).flatMap(blocksOf)];
  const count = blocks.filter((block) => isJsonObject(block.cache_control)).length;
  return count > MAX_BREAKPOINTS ? `cache_control: at most ${MAX_BREAKPOINTS} blocks may have it, found ${count}` : undefined;
};

/** What holds for a transcript, whether it is to be answered or to be counted. */
export const ANTHROPIC_TRANSCRIPT_RULES: readonly Rule[] = [
  messagesBeginWithTheUser,
  messagesAreNotEmpty,
  textsAreNotEmpty,
  toolNamesAreValidAndUnique,
  schemasAreObjectsWithoutUnionAtTheRoot,
  toolChoiceComesWithTools,
  toolBlocksNeedTools,
  callsAreWellFormed,
  callIdsAreUnique,
  everyCallHasItsResultInTheNextMessage,
  everyResultAnswersTheMessageBefore,
  resultsComeFirst,
  breakpointsAreAtMost4,
  ...ANTHROPIC_THINKING_RULES,
];

export const ANTHROPIC_RULES: readonly Rule[] = [maxTokensIsThere, ...ANTHROPIC_TRANSCRIPT_RULES];
