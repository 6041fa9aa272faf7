import { writeProse } from './prose.ts';
import { modelOf, type Scenario } from './upstream/scenario.ts';

const MESSAGE_COUNT = 4;
const STREAMED: readonly Scenario[] = ['burst', 'paced'];

/** The body of a chat request whose messages have so many characters together. The model stands first, where the mock looks for it. */
export function chatRequest(scenario: Scenario, contextLength: number): Buffer {
  const messages = Array.from({ length: MESSAGE_COUNT }, (_, number) => ({
    role: number === 0 ? 'system' : number % 2 === 1 ? 'user' : 'assistant',
    content: writeProse(contextLength / MESSAGE_COUNT, number),
  }));
  const stream = STREAMED.includes(scenario) && { stream: true, stream_options: { include_usage: true } };
  return Buffer.from(JSON.stringify({ model: modelOf(scenario), ...stream, messages }));
}
