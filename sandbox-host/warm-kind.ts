import { DEFAULT_SANDBOX_IMAGES } from '../src/contract/images.ts';
import { type RunRequest, runLimits } from '../src/contract/runs.ts';
import type { ContainerSpec } from './create-body.ts';
import { argumentLines } from './supervisor.ts';

/** A program that does nothing that could be seen before its standard input is there, so that it may be started before that. */
interface Interpreter {
  command: readonly string[];
  /** The CPU time that it takes until it waits for its input, or a little more. */
  bootCpuMs: number;
}

/** What containers that stand in for each other have in common. */
export interface WarmKind {
  key: string;
  image: string;
  limits: ContainerSpec['limits'];
  /** The program that waits in it; undefined when its supervisor still waits for a command. */
  interpreter: Interpreter | undefined;
  /** Whether files are to come back, which a supervisor whose program has started cannot be told any more. */
  returnFiles: boolean;
}

/** What an interpreter may have to wait for a CPU. */
const SCHEDULING_MS = 50;

const INTERPRETERS: readonly Interpreter[] = [
  { command: ['node', '-'], bootCpuMs: 45 },
  { command: ['python3', '-'], bootCpuMs: 12 },
];

/** A shell reads its orders byte by byte; what is longer than this is faster as arguments of the container. */
const MAX_WORDS_BYTES = 8_192;

/** How long after its start a container of the kind is as quick as it gets, at a CPU limit in thousandths. */
export const ripeningMs = ({ interpreter }: WarmKind, cpuLimit: number): number =>
  interpreter ? SCHEDULING_MS + (interpreter.bootCpuMs * 1_000) / Math.min(cpuLimit, 1_000) : 0;

const findInterpreter = (command: readonly string[]) =>
  INTERPRETERS.find((interpreter) => interpreter.command.join(' ') === command.join(' ') && interpreter.command.length === command.length);

function makeKind(kind: Omit<WarmKind, 'key'>): WarmKind {
  const { image, interpreter, returnFiles } = kind;
  const { cpuLimit, memoryLimit, networkEnabled, readOnly } = kind.limits;
  const limits = { cpuLimit, memoryLimit, networkEnabled, readOnly };
  return { ...kind, limits, key: JSON.stringify([image, limits, interpreter?.command, returnFiles]) };
}

/**
 * The kind of container that a run can take over; undefined when it needs one of its own. Variables of the environment would have to be there before the
 * shell is, and files before an interpreter looks for its modules.
 */
export function kindOf({ image, command, env, files, returnFiles, limits }: RunRequest): WarmKind | undefined {
  if (Object.keys(env).length > 0) return undefined;
  const interpreter = files.length === 0 ? findInterpreter(command) : undefined;
  if (interpreter) return makeKind({ image, limits, interpreter, returnFiles });
  if (Buffer.byteLength(argumentLines(command)) > MAX_WORDS_BYTES) return undefined;
  return makeKind({ image, limits, interpreter: undefined, returnFiles: false });
}

/** What the built-in skills ask for when nobody says otherwise. */
export function usualKinds(images: readonly string[]): WarmKind[] {
  const limits = runLimits.parse({});
  const [alpine, node, python] = DEFAULT_SANDBOX_IMAGES;
  const kinds = [
    makeKind({ image: node, limits, interpreter: findInterpreter(['node', '-']), returnFiles: true }),
    makeKind({ image: python, limits, interpreter: findInterpreter(['python3', '-']), returnFiles: true }),
    makeKind({ image: alpine, limits, interpreter: undefined, returnFiles: false }),
  ];
  return kinds.filter(({ image }) => images.includes(image));
}
