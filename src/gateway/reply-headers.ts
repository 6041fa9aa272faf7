import type { ExecutionSummary } from '../providers/adapter.ts';
import type { SelectedTools } from './select-tools.ts';

/** Clients refuse replies with long headers, Node's at 16 KiB for all together; the body tells everything. */
const MAX_HEADER_CHARS = 4_096;

/** The first of the texts that fit into a header with this separator between them. */
function thoseThatFit(texts: readonly string[], separator: string): string[] {
  let length = 0;
  return texts.filter((text) => {
    length += text.length + separator.length;
    return length <= MAX_HEADER_CHARS;
  });
}

/** Value of `x-omniroute-skills-injected`: name@version of each, in the order of the tools, as many as fit. */
export const injectedHeader = ({ before, after }: SelectedTools): string =>
  thoseThatFit(
    [...before, ...after].map(({ key }) => key),
    ', ',
  ).join(', ');

/** Value of `x-omniroute-executions`: a JSON array of `{id, skill, status, durationMs}`, as many as fit. */
export const executionsHeader = (executions: readonly ExecutionSummary[]): string =>
  `[${thoseThatFit(
    executions.map((execution) => JSON.stringify(execution)),
    ',',
  ).join(',')}]`;
