/** What the mock upstream may be asked for; the model's name in a request says which. */
export const SCENARIOS = ['plain', 'burst', 'paced', 'calls-1', 'calls-3'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** Chunks of a `burst` reply that are written at once, a while after a first one, as models think before they speak. */
export const BURST_CHUNKS = 100;
export const BURST_AFTER_MS = 3;
/** Chunks of a `paced` reply and the time between two. */
export const PACED_CHUNKS = 40;
export const PACE_MS = 3;

/** The tool that the mock calls: the wire name of the skill `bench_echo@1.0.0`. */
export const CALLED_TOOL = 'bench_echo_v1_0_0';

/** The texts of a `plain` and of a `burst` reply, the latter by chunks. */
export const ANSWER = 'The answer is forty-two, and here is a sentence that explains why. '.repeat(8);
export const BURST_TEXTS = Array.from({ length: BURST_CHUNKS }, (_, number) => `word ${number} of the answer `);

export const modelOf = (scenario: Scenario): string => `bench-${scenario}`;

export const isStreamed = (scenario: Scenario): boolean => scenario === 'burst' || scenario === 'paced';

/** Where our client and every gateway put the model: among the first members of the body. */
const HEAD_BYTES = 64;
const MARKS = SCENARIOS.map((scenario) => ({ scenario, mark: `"model":"${modelOf(scenario)}"` }));

/** The scenario that a body asks for, by a look at its first bytes. */
export function scenarioOfBody(request: Buffer): Scenario | undefined {
  const head = request.toString('latin1', 0, HEAD_BYTES);
  return MARKS.find(({ mark }) => head.includes(mark))?.scenario;
}

/** Nanoseconds of a clock that all processes of the machine share, in the form in which a paced chunk holds it. */
export const stamp = (): string => `@${process.hrtime.bigint()}@`;
export const readStamps = (text: string): bigint[] => [...text.matchAll(/@(\d+)@/g)].map(([, digits]) => BigInt(digits ?? 0));

/** Whether a reply, in whichever format, has all of the text that it should have. */
export function isComplete(scenario: Scenario, reply: string): boolean {
  switch (scenario) {
    case 'burst':
      return BURST_TEXTS.every((text) => reply.includes(text));
    case 'paced':
      return new Set(readStamps(reply)).size === PACED_CHUNKS;
    default:
      return reply.includes(ANSWER);
  }
}
