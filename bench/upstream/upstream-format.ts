import { BURST_TEXTS, type Scenario } from './scenario.ts';

/** A format's replies to one request. Those of equal text are built once, so that the mock costs next to nothing. */
export interface Replies {
  plain: Buffer;
  /** What a stream begins with, before its first chunk of text. */
  opening: string;
  /** One chunk of a stream's text, the first of which has the number 0. */
  chunk(text: string, number: number): string;
  /** What a stream ends with, behind chunks of these texts. */
  ending(texts: readonly string[]): string;
  /** The writes of a `burst` that follow the opening. */
  burst: readonly Buffer[];
}

/** One wire format as its provider speaks it. */
export interface UpstreamFormat {
  /** What the paths of its endpoints begin with. */
  path: string;
  scenarioOf(path: string, request: Buffer): Scenario | undefined;
  repliesTo(request: Buffer): Replies;
  /** For formats whose tool loop is measured. */
  calls?: {
    /** Whether the request carries results of calls. */
    hasResults(request: Buffer): boolean;
    reply(count: number): Buffer;
  };
}

interface ReplyParts extends Omit<Replies, 'plain' | 'burst'> {
  plain: object;
}

export const createReplies = ({ plain, opening, chunk, ending }: ReplyParts): Replies => ({
  plain: Buffer.from(JSON.stringify(plain)),
  ...{ opening, chunk, ending },
  burst: [...BURST_TEXTS.map(chunk), ending(BURST_TEXTS)].map((text) => Buffer.from(text)),
});

export interface NamedEvent {
  type: string;
  [member: string]: unknown;
}

/** A server-sent event whose name is its data's type, as OpenAI Responses and Anthropic send them. */
export const namedEvent = (data: NamedEvent): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
