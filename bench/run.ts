// What the gateway costs beside a bare proxy on the same workerd: npm run bench [-- --quick --only <text> --inspect <host:port>]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import { type Comparison, compare } from './compare.ts';
import { startEnvironment } from './environment.ts';
import { measureToolLoop } from './measure-tool-loop.ts';
import { measureSize, measureStartUp } from './measure-worker.ts';
import { formatTable, type Row, writeReport } from './report.ts';
import { FORMATS, type Format } from './requests.ts';

const REPORT = join(import.meta.dirname, '..', 'dist', 'bench.json');
const ALL_SKILL_COUNTS = [0, 20, 200, 1_000, 10_000];
/** How many skills there are costs the same in every format, so that one shows it. */
const SKILL_COUNTS: Record<Format, readonly number[]> = { chat: ALL_SKILL_COUNTS, responses: [0, 20], anthropic: [0, 20], gemini: [0, 20] };
const FEWER_SKILL_COUNTS: readonly number[] = [0, 20, 1_000];
const CONTEXT_LENGTH = 4_096;
const LARGE_CONTEXT_LENGTH = 1_048_576;

const { values: options } = parseArgs({
  options: {
    /** A fifth of the rounds: enough to see a large change. */
    quick: { type: 'boolean', default: false },
    /** Only the cases in whose `<format> <case> <number of skills>` the text stands. */
    only: { type: 'string', default: '' },
    /** Where workerd's inspector listens, for a profile. */
    inspect: { type: 'string' },
  },
});

const roundsOf = (count: number): number => (options.quick ? Math.ceil(count / 5) : count);

/** The targets that depend on how many skills there are. */
function limitFor(skillCount: number): { maxAddedMs?: number; maxRatio?: number } {
  if (skillCount === 0) return { maxRatio: 1.05 };
  if (skillCount <= 20) return { maxAddedMs: 0.3 };
  return skillCount <= 1_000 ? { maxAddedMs: 0.6 } : {};
}

function* listComparisons(): Iterable<Comparison> {
  for (const format of FORMATS) {
    for (const skillCount of SKILL_COUNTS[format]) {
      const common = { format, contextLength: CONTEXT_LENGTH, skillCount };
      const limit = limitFor(skillCount);
      yield { label: 'plain', scenario: 'plain', ...common, rounds: roundsOf(1_000), metrics: [{ of: 'total', ...limit }] };
      // With skills, the end of a burst is told by the lag of its chunks, below.
      const total = { of: 'total', ...(skillCount === 0 && limit) } as const;
      yield {
        label: 'burst of 100',
        scenario: 'burst',
        ...common,
        rounds: roundsOf(500),
        metrics: [{ of: 'first byte', ...limit }, total],
      };
    }
    for (const skillCount of SKILL_COUNTS[format].filter((count) => FEWER_SKILL_COUNTS.includes(count))) {
      const metrics: Comparison['metrics'] = [{ of: 'lag per chunk', maxAddedMs: 0.1 }];
      yield { label: 'paced stream', format, scenario: 'paced', contextLength: CONTEXT_LENGTH, skillCount, rounds: roundsOf(15), metrics };
    }
  }
  for (const skillCount of FEWER_SKILL_COUNTS) {
    const metrics: Comparison['metrics'] = [{ of: 'total', maxRatio: 1.3 }];
    const request = { format: 'chat', scenario: 'plain', contextLength: LARGE_CONTEXT_LENGTH, skillCount } as const;
    yield { label: 'request of 1 MB', ...request, rounds: roundsOf(150), metrics };
  }
}

const isWanted = (label: string): boolean => label.includes(options.only);

const environment = await startEnvironment(ALL_SKILL_COUNTS, options.inspect === undefined ? [] : [`--inspector-addr=${options.inspect}`]);
const client = createClient();
const rows: Row[] = [];
try {
  for (const comparison of listComparisons()) {
    const { format, label, skillCount } = comparison;
    if (isWanted(`${format} ${label} ${skillCount}`)) rows.push(...(await compare(client, environment, comparison)));
  }
  if (isWanted('chat tool loop 20')) {
    rows.push(...(await measureToolLoop(client, environment, { skillCount: 20, contextLength: CONTEXT_LENGTH, rounds: roundsOf(400) })));
  }
  if (isWanted('worker')) rows.push(measureSize(environment.workers.product), await measureStartUp(environment, roundsOf(15)));
} finally {
  client.close();
  await environment.close();
}
console.log(formatTable(rows));
writeReport(REPORT, rows, options);
console.log(`\nMedians in milliseconds; also in ${REPORT}`);
