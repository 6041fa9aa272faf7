import { type JsonObject, objectsOf } from '../../src/json.ts';
import { splitIntoSlices, splitIntoWords } from './split-text.ts';

// Events of a streamed response: https://platform.openai.com/docs/api-reference/responses-streaming

function messageEvents(item: JsonObject, at: JsonObject): JsonObject[] {
  const [part] = objectsOf(item.content);
  const text = String(part?.text ?? '');
  const here = { ...at, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...here, part: { ...part, text: '' } },
    ...splitIntoWords(text).map((delta) => ({ type: 'response.output_text.delta', ...here, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...here, text, logprobs: [] },
    { type: 'response.content_part.done', ...here, part: { ...part } },
  ];
}

const callEvents = ({ name, arguments: text }: JsonObject, at: JsonObject): JsonObject[] => [
  ...splitIntoSlices(String(text)).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
  { type: 'response.function_call_arguments.done', ...at, name: name ?? '', arguments: text ?? '' },
];

const summaryEvents = (item: JsonObject, at: JsonObject): JsonObject[] =>
  objectsOf(item.summary).flatMap((part, index) => {
    const here = { ...at, summary_index: index };
    const text = String(part.text);
    return [
      { type: 'response.reasoning_summary_part.added', ...here, part: { ...part, text: '' } },
      ...splitIntoWords(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...here, delta })),
      { type: 'response.reasoning_summary_text.done', ...here, text },
      { type: 'response.reasoning_summary_part.done', ...here, part },
    ];
  });

/** How an item looks when it is added, and the events between that and its end. */
function itemEvents(item: JsonObject, at: JsonObject): { added: JsonObject; events: JsonObject[] } {
  switch (item.type) {
    case 'reasoning': {
      const { encrypted_content: _, ...visible } = item;
      return { added: { ...visible, summary: [] }, events: summaryEvents(item, at) };
    }
    case 'message':
      return { added: { ...item, status: 'in_progress', content: [] }, events: messageEvents(item, at) };
    default:
      return { added: { ...item, status: 'in_progress', arguments: '' }, events: callEvents(item, at) };
  }
}

/** The events that a response is streamed as. */
export function writeEvents(response: JsonObject): JsonObject[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const items = objectsOf(response.output).flatMap((item, index) => {
    const { added, events } = itemEvents(item, { item_id: item.id ?? '', output_index: index });
    return [
      { type: 'response.output_item.added', output_index: index, item: added },
      ...events,
      { type: 'response.output_item.done', output_index: index, item },
    ];
  });
  const events: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items,
    { type: 'response.completed', response },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}
