export const BACKGROUND_REASONS = ['header_background', 'low_max_tokens', 'system_prompt_pattern'] as const;
export type BackgroundReason = (typeof BACKGROUND_REASONS)[number];

export interface BackgroundSigns {
  headers: Pick<Headers, 'get'>;
  /** The most tokens that the client lets the model write, if it says so. */
  maxOutputTokens: number | undefined;
  /** System and developer text, joined. */
  systemText: string;
  userMessageCount: number;
}

const BACKGROUND_HEADERS = ['x-task-type', 'x-request-priority', 'x-initiator'];
const MAX_LOW_TOKENS = 49;
const MAX_USER_MESSAGES = 3;

const product = /\b(?:titles?|summary|summaries|summari[sz](?:e|es|ing|ation))\b/gi;
const subject = /\b(?:conversations?|chats?|chat history|threads?|sessions?|dialog(?:ue)?s?|discussions?|messages?)\b/i;
const order =
  /\b(?:generat(?:e|es|ing|or)|writ(?:e|es|ing)|creat(?:e|es|ing|or)|provid(?:e|es)|giv(?:e|es)|suggest|come up with|produc(?:e|es)|make|return|output|extract|summari[sz](?:e|es|ing))\b/i;
/** How far around the word that names the product the rest of the order is looked for, in characters. */
const NEIGHBOURHOOD = 120;

function asksForTitleOrSummary(systemText: string): boolean {
  for (const { index } of systemText.matchAll(product)) {
    const around = systemText.slice(Math.max(0, index - NEIGHBOURHOOD), index + NEIGHBOURHOOD);
    if (order.test(around) && subject.test(around)) return true;
  }
  return false;
}

/** Why a request looks like one that a client makes on its own account rather than for its user; undefined when it does not. */
export function detectBackgroundReason({
  headers,
  maxOutputTokens,
  systemText,
  userMessageCount,
}: BackgroundSigns): BackgroundReason | undefined {
  if (BACKGROUND_HEADERS.some((name) => headers.get(name)?.trim().toLowerCase() === 'background')) return 'header_background';
  if (maxOutputTokens !== undefined && maxOutputTokens >= 1 && maxOutputTokens <= MAX_LOW_TOKENS) return 'low_max_tokens';
  if (userMessageCount <= MAX_USER_MESSAGES && asksForTitleOrSummary(systemText)) return 'system_prompt_pattern';
  return undefined;
}
