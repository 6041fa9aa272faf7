import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../../src/json.ts';
import { itemsOf, typeOf } from './openai-responses.ts';
import { firstFault, firstRepeated, type Rule } from './rules.ts';

// What Responses refuses: https://platform.openai.com/docs/api-reference/responses/create

const MAX_TOOLS = 128;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_CALL_ID_LENGTH = 64;
const ID_PREFIXES = new Map<JsonValue | undefined, string>([
  ['message', 'msg'],
  ['function_call', 'fc'],
  ['reasoning', 'rs'],
]);
const ITEM_TYPES: readonly unknown[] = [
  ...ID_PREFIXES.keys(),
  'function_call_output',
  'item_reference',
  'custom_tool_call',
  'custom_tool_call_output',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'shell_call',
  'shell_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'compaction',
];

const functionTools = ({ tools }: JsonObject): JsonObject[] => objectsOf(tools).filter(({ type }) => type === 'function');

const inputIsThere: Rule = ({ input }) =>
  typeof input === 'string' || itemsOf(input).length > 0 ? undefined : 'input: text or a list with at least one item';

const toolsAreAtMost128: Rule = ({ tools }) =>
  objectsOf(tools).length > MAX_TOOLS ? `tools: at most ${MAX_TOOLS}, got ${objectsOf(tools).length}` : undefined;

const toolsAreFlatAndNamed: Rule = (request) =>
  firstFault(functionTools(request), ({ name }, index) => {
    if (typeof name !== 'string') return `Missing required parameter: 'tools[${index}].name'.`;
    return TOOL_NAME.test(name) ? undefined : `tools[${index}].name: does not match ${TOOL_NAME.source}`;
  });

const toolNamesAreUnique: Rule = (request) => {
  const repeated = firstRepeated(functionTools(request).map(({ name }) => name));
  return repeated === undefined ? undefined : `tools: the name ${repeated} is there twice`;
};

const forcedChoiceComesWithTools: Rule = ({ tools, tool_choice: choice }) =>
  objectsOf(tools).length === 0 && (choice === 'required' || isJsonObject(choice))
    ? "tool_choice: must be specified together with 'tools'"
    : undefined;

const itemsAreWellFormed: Rule = ({ input }) =>
  firstFault(itemsOf(input), (item, index) => {
    const type = typeOf(item);
    const prefix = ID_PREFIXES.get(type);
    if (!ITEM_TYPES.includes(type)) return `Invalid value for 'input[${index}].type': ${JSON.stringify(type ?? null)}`;
    if (item.id !== undefined && prefix !== undefined && !String(item.id).startsWith(prefix)) {
      return `Invalid 'input[${index}].id': '${item.id}'. Expected an id that begins with '${prefix}'.`;
    }
    if (type !== 'function_call' && type !== 'function_call_output') return undefined;
    const { call_id: callId } = item;
    if (typeof callId !== 'string' || callId === '' || callId.length > MAX_CALL_ID_LENGTH) {
      return `Invalid 'input[${index}].call_id': a text of 1 to ${MAX_CALL_ID_LENGTH} characters`;
    }
    if (type === 'function_call')
      return typeof item.arguments === 'string' ? undefined : `Invalid 'input[${index}].arguments': expected a string`;
    return typeof item.output === 'string' || Array.isArray(item.output)
      ? undefined
      : `Invalid 'input[${index}].output': expected a string or a list`;
  });

/** What can be judged by a request alone. */
export const OPENAI_RESPONSES_RULES: readonly Rule[] = [
  inputIsThere,
  toolsAreAtMost128,
  toolsAreFlatAndNamed,
  toolNamesAreUnique,
  forcedChoiceComesWithTools,
  itemsAreWellFormed,
];
