// What the gateway costs beside a bare proxy on the same workerd: npm run bench [-- --quick --only <text> --inspect <host:port>]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import { type Comparison, compare } from './compare.ts';
import { startEnvironment } from './environment.ts';
import { measureToolLoop } from './measure-tool-loop.ts';
import { measureSize, measureStartUp } from './measure-worker.ts';
import { formatTable, type Row, writeReport } from './report.ts';

const REPORT = join(import.meta.dirname, '..', 'dist', 'bench.json');
const SKILL_COUNTS = [0, 20, 200, 1_000, 10_000];
const CONTEXT_LENGTH = 4_096;
const LARGE_CONTEXT_LENGTH = 1_048_576;

const { values: options } = parseArgs({
  options: {
    /** A fifth of the rounds: enough to see a large change. */
    quick: { type: 'boolean', default: false },
    /** Only the cases whose name contains the text. */
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

const comparisons: Comparison[] = [
  ...SKILL_COUNTS.flatMap((skillCount): Comparison[] => {
    const common = { contextLength: CONTEXT_LENGTH, skillCount, rounds: roundsOf(1_000) };
    const limit = limitFor(skillCount);
    return [
      { label: 'plain', scenario: 'plain', ...common, metrics: [{ of: 'total', ...limit }] },
      { label: 'burst of 100', scenario: 'burst', ...common, metrics: [{ of: 'first byte', ...limit }, { of: 'total' }] },
    ];
  }),
  ...[0, 20, 1_000].map(
    (skillCount): Comparison => ({
      label: 'paced stream',
      scenario: 'paced',
      contextLength: CONTEXT_LENGTH,
      skillCount,
      rounds: roundsOf(25),
      metrics: [{ of: 'lag per chunk', maxAddedMs: 0.1 }],
    }),
  ),
  ...[0, 20, 1_000].map(
    (skillCount): Comparison => ({
      label: 'request of 1 MB',
      scenario: 'plain',
      contextLength: LARGE_CONTEXT_LENGTH,
      skillCount,
      rounds: roundsOf(200),
      metrics: [{ of: 'total', maxRatio: 1.3 }],
    }),
  ),
];

const isWanted = (label: string): boolean => label.includes(options.only);

const environment = await startEnvironment(SKILL_COUNTS, options.inspect === undefined ? [] : [`--inspector-addr=${options.inspect}`]);
const client = createClient();
const rows: Row[] = [];
try {
  for (const comparison of comparisons) {
    if (isWanted(`${comparison.label} ${comparison.skillCount}`)) rows.push(...(await compare(client, environment, comparison)));
  }
  if (isWanted('tool loop')) {
    rows.push(...(await measureToolLoop(client, environment, { skillCount: 20, contextLength: CONTEXT_LENGTH, rounds: roundsOf(500) })));
  }
  if (isWanted('worker')) rows.push(measureSize(environment.workers.product), await measureStartUp(environment, roundsOf(15)));
} finally {
  client.close();
  await environment.close();
}
console.log(formatTable(rows));
writeReport(REPORT, rows, options);
console.log(`\nMedians in milliseconds; also in ${REPORT}`);
