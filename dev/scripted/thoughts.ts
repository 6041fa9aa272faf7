import type { Reply } from './script.ts';

/** What the model thinks before it replies, where a request asks it to think. */
export function thoughtsBefore({ calls }: Reply, resultCount: number): string {
  const plan = calls.length === 0 ? 'I answer.' : `I call ${calls.map(({ name }) => name).join(' and ')}.`;
  return `The script goes on, ${resultCount} results are there. ${plan}`;
}
