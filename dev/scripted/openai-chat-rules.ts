import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';
import { firstFault, firstRepeated, isEmptyList, type Rule } from './rules.ts';

// What Chat Completions refuses: https://platform.openai.com/docs/api-reference/chat/create

const MAX_TOOLS = 128;
const MAX_CALL_ID_LENGTH = 40;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const toolNames = ({ tools }: JsonObject): unknown[] =>
  objectsOf(tools).map(({ function: called, custom }) =>
    isJsonObject(called) ? called.name : isJsonObject(custom) ? custom.name : undefined,
  );

const messagesAreThere: Rule = ({ messages }) =>
  Array.isArray(messages) && messages.length > 0 ? undefined : 'messages: a list with at least one message';

const toolsAreNotAnEmptyList: Rule = ({ tools }) => (isEmptyList(tools) ? 'tools: [] is too short, leave it out instead' : undefined);

const toolsAreAtMost128: Rule = ({ tools }) =>
  objectsOf(tools).length > MAX_TOOLS ? `tools: at most ${MAX_TOOLS}, got ${objectsOf(tools).length}` : undefined;

const toolFieldsComeWithTools: Rule = ({ tools, ...others }) =>
  firstFault(['tool_choice', 'parallel_tool_calls'], (field) =>
    tools === undefined && others[field] !== undefined ? `'${field}' is only allowed when 'tools' are specified` : undefined,
  );

const toolNamesAreValid: Rule = (request) =>
  firstFault(toolNames(request), (name, index) =>
    typeof name === 'string' && TOOL_NAME.test(name) ? undefined : `tools[${index}]: the name does not match ${TOOL_NAME.source}`,
  );

const toolNamesAreUnique: Rule = (request) => {
  const repeated = firstRepeated(toolNames(request));
  return repeated === undefined ? undefined : `tools: the name ${repeated} is there twice`;
};

const streamOptionsComeWithStream: Rule = ({ stream, stream_options: options }) =>
  stream !== true && isJsonObject(options) ? "'stream_options' is only allowed when 'stream' is enabled" : undefined;

const callsAreWellFormed: Rule = ({ messages }) =>
  firstFault(objectsOf(messages), ({ tool_calls: calls }, at) =>
    isEmptyList(calls)
      ? `messages[${at}].tool_calls: [] is too short, leave it out instead`
      : firstFault(objectsOf(calls), ({ id, type, function: called }, index) => {
          const path = `messages[${at}].tool_calls[${index}]`;
          if (typeof id !== 'string' || id === '' || id.length > MAX_CALL_ID_LENGTH)
            return `${path}.id: a text of 1 to ${MAX_CALL_ID_LENGTH} characters`;
          if (type !== 'function') return undefined;
          return isJsonObject(called) && typeof called.arguments === 'string' ? undefined : `${path}.function.arguments: expected a string`;
        }),
  );

const everyCallIsAnsweredDirectlyAfterIt: Rule = ({ messages }) => {
  const unanswered = (ids: readonly unknown[]): string =>
    `An assistant message with 'tool_calls' must be followed by tool messages that answer each 'tool_call_id'; no answer to: ${ids.join(', ')}`;
  let open: unknown[] = [];
  for (const [index, message] of objectsOf(messages).entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        return `messages[${index}]: a message with role 'tool' must answer a call of the message with 'tool_calls' before it`;
      }
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      if (open.length > 0) return unanswered(open);
      open = objectsOf(message.tool_calls).map(({ id }) => id);
    }
  }
  return open.length > 0 ? unanswered(open) : undefined;
};

export const OPENAI_CHAT_RULES: readonly Rule[] = [
  messagesAreThere,
  toolsAreNotAnEmptyList,
  toolsAreAtMost128,
  toolFieldsComeWithTools,
  toolNamesAreValid,
  toolNamesAreUnique,
  streamOptionsComeWithStream,
  callsAreWellFormed,
  everyCallIsAnsweredDirectlyAfterIt,
];
