import { isJsonObject, type JsonObject } from '../../src/json.ts';
import { blocksOf, blocksOfType, firstBlockFault, lastUserMessage, messagesOf } from './anthropic-blocks.ts';
import { firstFault, type Rule } from './rules.ts';
import { sign } from './sign.ts';

// What Messages makes of thinking: https://platform.claude.com/docs/en/build-with-claude/extended-thinking

const MIN_BUDGET_TOKENS = 1024;

const isThinking = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking';

const thinkingBudgetFits: Rule = ({ thinking, max_tokens: max }) => {
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return undefined;
  const budget = Number(thinking.budget_tokens);
  if (!(budget >= MIN_BUDGET_TOKENS)) return `thinking.enabled.budget_tokens: at least ${MIN_BUDGET_TOKENS}`;
  return typeof max === 'number' && budget >= max ? 'max_tokens: must be greater than thinking.budget_tokens' : undefined;
};

const thinkingForbidsForcedTools: Rule = ({ thinking, tool_choice: choice }) =>
  isJsonObject(thinking) && thinking.type !== 'disabled' && isJsonObject(choice) && (choice.type === 'any' || choice.type === 'tool')
    ? 'Thinking may not be enabled when tool_choice forces tool use.'
    : undefined;

const thinkingIsUnmodified: Rule = (request) =>
  firstBlockFault(request, ({ type, thinking, signature }, path) =>
    type === 'thinking' && signature !== sign('thinking', String(thinking)) ? `${path}: invalid signature in thinking block` : undefined,
  );

const messagesDoNotEndInThinking: Rule = (request) =>
  firstFault(messagesOf(request), (message, index) =>
    message.role === 'assistant' && isThinking(blocksOf(message).at(-1) ?? {})
      ? `messages.${index}: the final block in an assistant message cannot be thinking`
      : undefined,
  );

/** Since the user last spoke, every message with calls begins as the model began it. */
const callsComeAfterTheirThinking: Rule = (request) => {
  const { thinking } = request;
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return undefined;
  const messages = messagesOf(request);
  const start = lastUserMessage(messages);
  return firstFault(messages, (message, index) => {
    const [first] = blocksOf(message);
    const mustThink = index > start && blocksOfType(message, 'tool_use').length > 0;
    return mustThink && first !== undefined && !isThinking(first)
      ? `messages.${index}.content.0.type: expected thinking or redacted_thinking, but found ${first.type}`
      : undefined;
  });
};

export const ANTHROPIC_THINKING_RULES: readonly Rule[] = [
  thinkingBudgetFits,
  thinkingForbidsForcedTools,
  thinkingIsUnmodified,
  messagesDoNotEndInThinking,
  callsComeAfterTheirThinking,
];
