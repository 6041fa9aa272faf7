import { describe, expect, it } from 'vitest';
import { type BackgroundSigns, detectBackgroundReason } from '../../src/skills/background-reason.ts';

const signs = (more: Partial<BackgroundSigns>): BackgroundSigns => ({
  headers: new Headers(),
  maxOutputTokens: undefined,
  systemText: '',
  userMessageCount: 1,
  ...more,
});

describe('detectBackgroundReason', () => {
  it.each(['x-task-type', 'x-request-priority', 'x-initiator'])('reads %s', (name) => {
    expect(detectBackgroundReason(signs({ headers: new Headers({ [name]: 'background' }) }))).toBe('header_background');
    expect(detectBackgroundReason(signs({ headers: new Headers({ [name]: ' Background ' }) }))).toBe('header_background');
    expect(detectBackgroundReason(signs({ headers: new Headers({ [name]: 'user' }) }))).toBeUndefined();
    expect(detectBackgroundReason(signs({ headers: new Headers({ [name]: 'background-color' }) }))).toBeUndefined();
  });

  it.each([
    [undefined, undefined],
    [0, undefined],
    [-1, undefined],
    [1, 'low_max_tokens'],
    [49, 'low_max_tokens'],
    [50, undefined],
  ])('reads an output limit of %s', (maxOutputTokens, expected) => {
    expect(detectBackgroundReason(signs({ maxOutputTokens }))).toBe(expected);
  });

  it.each([
    'Generate a concise, 3-5 word title for this conversation.',
    'You are a title generator. You output ONLY a thread title.',
    'Summarize the conversation so far in two sentences.',
    'Please write a short summary of the following chat.',
    'Your task: create a SUMMARY of the discussion above, in its language.',
    'Summarise this coding session in under 50 characters.',
    `${'You help. '.repeat(1_000)}\nProvide a title for the chat history.`,
  ])('takes for background: %s', (systemText) => {
    expect(detectBackgroundReason(signs({ systemText }))).toBe('system_prompt_pattern');
    expect(detectBackgroundReason(signs({ systemText, userMessageCount: 3 }))).toBe('system_prompt_pattern');
    expect(detectBackgroundReason(signs({ systemText, userMessageCount: 4 }))).toBeUndefined();
  });

  it.each([
    '',
    'You are a helpful assistant.',
    'Answer in the tone of the conversation.',
    'Generate a title for the given article.',
    'The user holds the title of champion.',
    `Write a summary.${' '.repeat(500)}This is a chat.`,
    'Subtitles of messages: generate them.',
  ])('takes for ordinary: %s', (systemText) => {
    expect(detectBackgroundReason(signs({ systemText }))).toBeUndefined();
  });

  it('prefers what a header says, then the limit', () => {
    const systemText = 'Write a title for this conversation';
    const headers = new Headers({ 'x-initiator': 'background' });
    expect(detectBackgroundReason(signs({ headers, maxOutputTokens: 10, systemText }))).toBe('header_background');
    expect(detectBackgroundReason(signs({ maxOutputTokens: 10, systemText }))).toBe('low_max_tokens');
  });
});
