import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';
import type { CallArguments, ToolCall } from './adapter.ts';
import { readCallArguments } from './call-arguments.ts';
import { callIdOf, callNameOf, isPendingCall, toolNamesOf } from './openai-responses-items.ts';

/** Names under which models call several tools at once although nobody declared such a tool. */
const WRAPPER_NAMES: ReadonlySet<string> = new Set(['parallel', 'multi_tool_use.parallel']);

/** One call inside of a wrapper. The model gets one answer for all of them, under the id of the wrapper. */
export interface WrappedCall {
  /** Made of the wrapper's id and the position. */
  id: string;
  /** The recipient as the model wrote it. */
  recipient: string;
  name: string;
  arguments: CallArguments;
  /** The arguments as JSON text. */
  text: string;
}

/** True for a call that may turn out to be a wrapper once its arguments are complete. `tools` are those that the reply says it had. */
export const mayBeWrapper = (call: JsonObject, tools: JsonValue | undefined): boolean =>
  call.type === 'function_call' && WRAPPER_NAMES.has(callNameOf(call)) && !toolNamesOf(objectsOf(tools)).includes(callNameOf(call));

/**
 * The calls inside of `{tool_uses: [{recipient_name: "functions.x", parameters}]}`; undefined when the call is no wrapper or a recipient is
 * no tool of the request, as far as the reply says which it had.
 */
export function readWrappedCalls(call: JsonObject, tools: JsonValue | undefined): WrappedCall[] | undefined {
  const id = callIdOf(call);
  if (id === undefined || !mayBeWrapper(call, tools)) return undefined;
  const read = readCallArguments(call.arguments);
  const uses = read.readable && Array.isArray(read.value.tool_uses) ? read.value.tool_uses : [];
  if (uses.length === 0) return undefined;
  const known = new Set(toolNamesOf(objectsOf(tools)));
  const wrapped = uses.flatMap((use, position): WrappedCall[] => {
    if (!isJsonObject(use) || typeof use.recipient_name !== 'string') return [];
    const name = use.recipient_name.replace(/^functions\./, '');
    if (name === '' || (known.size > 0 && !known.has(name))) return [];
    return [
      {
        id: `${id}_use${position}`,
        recipient: use.recipient_name,
        name,
        arguments: readCallArguments(use.parameters),
        text: JSON.stringify(use.parameters ?? {}),
      },
    ];
  });
  return wrapped.length === uses.length ? wrapped : undefined;
}

/** A wrapped call as a call of its own, for the client whose tool it means. */
export const unwrapCall = (wrapper: JsonObject, { id, name, text }: WrappedCall): JsonObject => ({
  ...wrapper,
  ...(typeof wrapper.id === 'string' && { id: `${wrapper.id}${id.slice(id.lastIndexOf('_use'))}` }),
  call_id: id,
  name,
  arguments: text,
  status: 'completed',
});

/** The calls that an item makes: none, one, or those inside of a wrapper. */
export function readCalls(item: JsonObject, tools: JsonValue | undefined): ToolCall[] {
  const id = callIdOf(item);
  if (id === undefined || !isPendingCall(item)) return [];
  const wrapped = readWrappedCalls(item, tools);
  if (wrapped) return wrapped.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments }));
  const read: CallArguments = item.type === 'function_call' ? readCallArguments(item.arguments) : { readable: true, value: {} };
  return [{ id, name: callNameOf(item), arguments: read }];
}
