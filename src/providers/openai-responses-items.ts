import { asText, isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';

/** Calls that only the client can answer, whatever they say about themselves. */
const CLIENT_CALL_TYPES: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'apply_patch_call',
  'mcp_approval_request',
]);

/** True for calls that wait for an answer from outside; hosted tools answer theirs themselves. */
export function isPendingCall(item: JsonObject): boolean {
  if (item.type === 'shell_call') return !isJsonObject(item.environment) || item.environment.type !== 'container_reference';
  if (item.type === 'tool_search_call') return item.execution === 'client';
  return CLIENT_CALL_TYPES.has(item.type);
}

/** Where an item says which call it is or answers. */
function callIdField(item: JsonObject): string {
  switch (item.type) {
    case 'mcp_approval_request':
      return 'id';
    case 'mcp_approval_response':
      return 'approval_request_id';
    case 'local_shell_call_output':
      return 'call_id' in item ? 'call_id' : 'id';
    default:
      return 'call_id';
  }
}

/** The id under which a call is answered, of a call or of an answer. */
export function callIdOf(item: JsonObject): string | undefined {
  const id = item[callIdField(item)];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

export const withCallId = (item: JsonObject, id: string): JsonObject => ({ ...item, [callIdField(item)]: id });

/** The name by which ownership is decided. What is no plain function call gets a name that no skill can have. */
export function callNameOf(item: JsonObject): string {
  const name = typeof item.name === 'string' ? item.name : '';
  if (item.type !== 'function_call') return `${String(item.type)} ${name}`;
  return typeof item.namespace === 'string' && item.namespace !== '' ? `${item.namespace}.${name}` : name;
}

/** Gives a function call an id and arguments that are text; emulators leave them out or send objects. */
export function normalizeItem(item: JsonObject, responseId: JsonValue | undefined, position: number): JsonObject {
  if (item.type !== 'function_call' || (callIdOf(item) !== undefined && typeof item.arguments === 'string')) return item;
  const id = typeof item.id === 'string' && item.id !== '' ? item.id : `call_${asText(responseId)}_${position}`;
  const text = typeof item.arguments === 'string' ? item.arguments : isJsonObject(item.arguments) ? JSON.stringify(item.arguments) : '';
  return { ...item, call_id: callIdOf(item) ?? id, arguments: text };
}

/** The items of a reply, normalized. */
export const outputOf = (response: JsonObject): JsonObject[] =>
  objectsOf(response.output).map((item, position) => normalizeItem(item, response.id, position));

/** Names of tool definitions, with those inside of namespaces. */
export const toolNamesOf = (tools: readonly JsonObject[]): string[] =>
  tools.flatMap((tool) => [...(typeof tool.name === 'string' ? [tool.name] : []), ...toolNamesOf(objectsOf(tool.tools))]);

const CLIENT_ROLES: ReadonlySet<unknown> = new Set(['user', 'system', 'developer']);
const CLIENT_ITEM_TYPES: ReadonlySet<unknown> = new Set(['mcp_approval_response', 'additional_tools', 'compaction_trigger']);

/** True for answers to calls. */
export const isAnswer = (item: JsonObject): boolean =>
  item.type === 'mcp_approval_response' ||
  (typeof item.type === 'string' && item.type.endsWith('_output') && item.type !== 'program_output');

/** True for items of a history that a model wrote, or that refer to such an item. */
export const isModelItem = (item: JsonObject): boolean =>
  !isAnswer(item) && !CLIENT_ROLES.has(item.role) && !CLIENT_ITEM_TYPES.has(item.type);

export const isReasoning = (item: JsonObject | undefined): boolean =>
  item?.type === 'reasoning' || (item?.type === 'item_reference' && typeof item.id === 'string' && item.id.startsWith('rs_'));
