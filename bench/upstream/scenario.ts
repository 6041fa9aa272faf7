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

export const modelOf = (scenario: Scenario): string => `bench-${scenario}`;

/** Nanoseconds of a clock that all processes of the machine share, in the form in which a paced chunk holds it. */
export const stamp = (): string => `@${process.hrtime.bigint()}@`;
export const readStamps = (text: string): bigint[] => [...text.matchAll(/@(\d+)@/g)].map(([, digits]) => BigInt(digits ?? 0));

/** One format's replies. They are built once, so that the mock costs next to nothing. */
export interface UpstreamFormat {
  /** Path of the endpoint. */
  path: string;
  /** The scenario that a request asks for, by a look at its first bytes. */
  scenarioOf(request: Buffer): Scenario | undefined;
  /** Whether the request carries results of calls. */
  hasResults(request: Buffer): boolean;
  plain: Buffer;
  calls(count: number): Buffer;
  /** The first chunk of a stream. */
  opening: Buffer;
  burst: readonly Buffer[];
  pacedChunk(content: string): string;
  streamEnd: string;
}
