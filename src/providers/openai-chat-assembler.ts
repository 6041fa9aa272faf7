import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '../json.ts';

/** One call of a streamed reply, folded from its fragments. */
export interface StreamedCall {
  index: JsonValue | undefined;
  /** As the provider wrote it; empty while it has not. */
  givenId: string;
  /** The given id, told apart from one that another call has as well. */
  id: string;
  name: string;
  argumentText: string;
  /** Fields of the call that we do not know, such as `extra_content`. */
  extra: JsonObject;
}

/** A fragment of a call with what it adds to it. */
export interface CallFragment {
  call: StreamedCall;
  fragment: JsonObject;
  argumentDelta: string;
}

/** Folds the chunks of one streamed chat completion into the body that a plain call would have given. */
export interface ChatAssembler {
  /** Takes a chunk; returns the fragments of calls in it. */
  push(chunk: JsonObject): CallFragment[];
  readonly calls: readonly StreamedCall[];
  readonly finishReason: JsonValue;
  response(): JsonObject;
}

const argumentTextOf = (raw: JsonValue | undefined): string => {
  if (typeof raw === 'string') return raw;
  return isJsonObject(raw) ? JSON.stringify(raw) : '';
};

/** The call that a fragment belongs to, if it has begun. Emulators leave out the index or the id, or use an index again for a new id. */
function findCall(calls: readonly StreamedCall[], index: JsonValue | undefined, id: string, name: string): StreamedCall | undefined {
  if (typeof index === 'number') {
    const call = calls.findLast((candidate) => candidate.index === index);
    return call && id !== '' && call.givenId !== '' && call.givenId !== id ? undefined : call;
  }
  const last = calls.at(-1);
  if (id !== '') return calls.findLast((candidate) => candidate.givenId === id) ?? (last?.givenId === '' && name === '' ? last : undefined);
  return name !== '' && last?.name !== '' ? undefined : last;
}

/** Adds one field of a delta to the message: texts and lists grow, everything else is replaced. */
function foldField(message: JsonObject, key: string, value: JsonValue): void {
  const before = message[key];
  if (typeof value === 'string' && key !== 'role') message[key] = typeof before === 'string' ? before + value : value;
  else if (Array.isArray(value)) message[key] = [...(Array.isArray(before) ? before : []), ...value];
  else if (value !== null || before === undefined) message[key] = value;
}

export function createChatAssembler(): ChatAssembler {
  const calls: StreamedCall[] = [];
  const message: JsonObject = { role: 'assistant', content: null };
  let envelope: JsonObject | undefined;
  let finishReason: JsonValue = null;
  let usage: JsonObject | undefined;

  function foldCall(fragment: JsonObject): CallFragment {
    const { index, id: rawId, type: _, function: rawFunction, ...extra } = fragment;
    const named = isJsonObject(rawFunction) ? rawFunction : {};
    const id = typeof rawId === 'string' ? rawId : '';
    const name = typeof named.name === 'string' ? named.name : '';
    const argumentDelta = argumentTextOf(named.arguments);
    let call = findCall(calls, index, id, name);
    if (call === undefined) {
      call = { index, givenId: '', id: '', name, argumentText: '', extra: {} };
      calls.push(call);
    }
    if (id !== '' && call.givenId === '') {
      const isRepeated = calls.some((other) => other !== call && other.id === id);
      call.givenId = id;
      call.id = isRepeated ? `${id}_${calls.indexOf(call)}` : id;
    }
    call.name ||= name;
    call.argumentText += argumentDelta;
    Object.assign(call.extra, extra);
    return { call, fragment, argumentDelta };
  }

  return {
    calls,
    get finishReason() {
      return finishReason;
    },
    push(chunk) {
      envelope ??= chunk;
      if (isJsonObject(chunk.usage)) usage = chunk.usage;
      const choice = objectsOf(chunk.choices)[0];
      if (choice === undefined) return [];
      finishReason = choice.finish_reason ?? finishReason;
      const { tool_calls: fragments, ...spoken } = isJsonObject(choice.delta) ? choice.delta : {};
      for (const [key, value] of Object.entries(spoken)) foldField(message, key, value);
      return objectsOf(fragments).map(foldCall);
    },
    response() {
      const { usage: _, choices: __, object: ___, ...rest } = envelope ?? {};
      const toolCalls = calls.map(({ id, name, argumentText, extra }) => ({
        ...extra,
        id,
        type: 'function',
        function: { name, arguments: argumentText },
      }));
      return {
        ...rest,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { ...message, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) }, finish_reason: finishReason },
        ],
        ...(usage && { usage }),
      };
    },
  };
}
