import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { CallVisibility, Reply, StreamRelay, ToolCall } from './adapter.ts';
import { createResponsesAssembler } from './openai-responses-assembler.ts';
import { createEventWriter } from './openai-responses-events.ts';
import { createItemRelay } from './openai-responses-item-relay.ts';
import { addedItems, composeReply, hideTools, withFirstRequest } from './openai-responses-reply.ts';
import { parseEvent } from './parse-event.ts';

const FINAL_STATES: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed']);

/** An id may go out before it is known whether anything before it is hidden; from then on it stays. */
function withStableIds(visibility: CallVisibility): CallVisibility {
  const clientIds = new Map<string, string>();
  return {
    isHidden: visibility.isHidden,
    clientCallId(id, afterHidden) {
      const clientId = clientIds.get(id) ?? visibility.clientCallId(id, afterHidden);
      clientIds.set(id, clientId);
      return clientId;
    },
  };
}

/** What an event says went wrong; undefined when it reports no error. */
function readError(event: JsonObject): { code: string | undefined; message: string } | undefined {
  if (event.type !== 'error' && !isJsonObject(event.error)) return undefined;
  const error = isJsonObject(event.error) ? event.error : event;
  return {
    code: typeof error.code === 'string' ? error.code : undefined,
    message: typeof error.message === 'string' ? error.message : 'The model provider reported an error',
  };
}

/** Relays the streams of several rounds as one response: created once, events numbered without gaps, and one end that lists every item. */
export function createResponsesRelay(
  request: JsonObject,
  visibility: CallVisibility,
  onCallReady: (call: ToolCall) => void = () => {},
): StreamRelay {
  const writer = createEventWriter();
  const shownAs = withStableIds(visibility);
  const items = createItemRelay({ writer, visibility: shownAs, onCallReady });
  const lifecycle = new Set<unknown>();
  let assembler = createResponsesAssembler();
  let round = 1;
  let first: JsonObject | undefined;
  let known: JsonObject = {};
  let failure: ReturnType<typeof readError>;
  items.startRound(assembler);

  /** The response as the client knows it, whatever the providers left out. */
  const snapshot = (): JsonObject => ({
    id: 'resp_unknown',
    object: 'response',
    created_at: 0,
    model: request.model ?? null,
    ...hideTools(withFirstRequest(first ?? {}, { ...known, ...assembler.envelope }), visibility),
  });

  /** A client understands nothing before the event that begins the response. */
  function ensureCreated(): string {
    if (lifecycle.has('response.created')) return '';
    lifecycle.add('response.created');
    return writer.write({ type: 'response.created', response: { ...snapshot(), status: 'in_progress', output: [] } });
  }

  function relayLifecycle(event: JsonObject, response: JsonObject, data: string): string {
    if (round > 1 || lifecycle.has(event.type)) return '';
    const opening = event.type === 'response.created' ? '' : ensureCreated();
    lifecycle.add(event.type);
    const visible = hideTools(response, visibility);
    return opening + (visible === response ? writer.write(event, data) : writer.write({ ...event, response: visible }));
  }

  return {
    push(data) {
      if (data === '[DONE]') return '';
      const event = parseEvent(data);
      failure = readError(event);
      if (failure) throw new AppError('upstream_failed', failure.message);
      if (typeof event.type !== 'string') return '';
      const streamed = assembler.push(event);
      if (assembler.ended) return '';
      if (isJsonObject(event.response)) return relayLifecycle(event, event.response, data);
      const opening = ensureCreated();
      return opening + (streamed ? items.push(streamed, event, data) : writer.write(event, data));
    },
    isOver: () => assembler.ended,
    endRound() {
      if (!assembler.ended) throw new AppError('upstream_incomplete', "The model provider's stream ended early");
      const text = ensureCreated() + items.endRound();
      const response = assembler.response();
      first ??= assembler.envelope;
      known = assembler.envelope;
      assembler = createResponsesAssembler();
      items.startRound(assembler);
      round += 1;
      return { response, text };
    },
    finish(reply: Reply) {
      const last = reply.responses.at(-1) ?? {};
      const added = addedItems(reply).map(items.show).join('');
      const response = { ...composeReply(reply, shownAs), output: items.shown() };
      const state = FINAL_STATES.has(last.status) ? String(last.status) : 'completed';
      return ensureCreated() + added + writer.write({ type: `response.${state}`, response });
    },
    fail({ code, message }) {
      const response = { ...snapshot(), status: 'failed', error: { code: failure?.code ?? code, message }, output: items.shown() };
      return ensureCreated() + writer.write({ type: 'response.failed', response });
    },
  };
}
