import { canonicalJson } from '../json.ts';
import type { ToolCall, ToolResult } from '../providers/adapter.ts';
import type { Settings } from '../settings.ts';

export type LoopSettings = Pick<
  Settings,
  'maxRounds' | 'loopTimeoutMs' | 'maxResultBytes' | 'maxRequestResultBytes' | 'maxIdenticalCalls' | 'maxFailedRounds'
>;

/** Keeps count of one request's tool loop. */
export interface LoopBounds {
  /** Why the calls of this round may not run any more, as the model is told; undefined while they may. */
  reasonToStop(calls: readonly ToolCall[]): string | undefined;
  /** Cuts a result to what is left of the budgets and counts it. */
  shorten(content: string): string;
  /** Counts a round; returns why it was the last one, or undefined. */
  endRound(results: readonly ToolResult[]): string | undefined;
  /** Whether this call of the round under way will be let run, as far as can be known before the round is over. */
  mayStart(call: ToolCall): boolean;
  /** Milliseconds until the wall clock of the loop runs out; never negative. */
  remainingMs(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The longest beginning of the text that fits into the bytes without cutting a code point. */
function headOf(text: string, maxBytes: number): string {
  const bytes = encoder.encode(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end));
}

/** Cuts a text to a number of bytes, with a marker that says how many bytes are gone. */
export function cutText(text: string, maxBytes: number): string {
  const size = text.length * 3 <= maxBytes ? text.length : encoder.encode(text).length;
  if (size <= maxBytes) return text;
  const head = headOf(text, maxBytes);
  return `${head}\n[cut: ${size - encoder.encode(head).length} of ${size} bytes left out]`;
}

const sameCall = (call: ToolCall): string =>
  `${call.name} ${call.arguments.readable ? canonicalJson(call.arguments.value) : call.arguments.error}`;

export function createLoopBounds(settings: LoopSettings, now: () => number): LoopBounds {
  const deadline = now() + settings.loopTimeoutMs;
  let rounds = 0;
  let failedRounds = 0;
  let resultBytes = 0;
  let lastCall: string | undefined;
  let repeats = 0;
  let over = false;

  const end = (reason: string | undefined): string | undefined => {
    over ||= reason !== undefined;
    return reason;
  };

  function countRepeats(calls: readonly ToolCall[]): number {
    for (const call of calls.map(sameCall)) {
      repeats = call === lastCall ? repeats + 1 : 1;
      lastCall = call;
      if (repeats >= settings.maxIdenticalCalls) break;
    }
    return repeats;
  }

  function limitReached(round: number): string | undefined {
    if (round > settings.maxRounds) return `The limit of ${settings.maxRounds} rounds is reached`;
    if (now() >= deadline) return `The limit of ${settings.loopTimeoutMs} ms is reached`;
    if (resultBytes >= settings.maxRequestResultBytes) return `The limit of ${settings.maxRequestResultBytes} bytes of results is reached`;
    return undefined;
  }

  return {
    remainingMs: () => Math.max(0, deadline - now()),
    mayStart: (call) => !over && limitReached(rounds + 1) === undefined && sameCall(call) !== lastCall,
    reasonToStop(calls) {
      rounds += 1;
      const isRepeated = countRepeats(calls) >= settings.maxIdenticalCalls;
      return end(limitReached(rounds) ?? (isRepeated ? `The same call was made ${settings.maxIdenticalCalls} times in a row` : undefined));
    },
    shorten(content) {
      const left = Math.max(0, settings.maxRequestResultBytes - resultBytes);
      resultBytes += Math.min(encoder.encode(content).length, settings.maxResultBytes);
      return cutText(content, Math.min(settings.maxResultBytes, left));
    },
    endRound(results) {
      failedRounds = results.length > 0 && results.every((result) => result.failed) ? failedRounds + 1 : 0;
      return end(failedRounds >= settings.maxFailedRounds ? `Every call failed in ${settings.maxFailedRounds} rounds` : undefined);
    },
  };
}
