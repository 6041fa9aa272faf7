import * as z from 'zod';
import { decodeBase64, encodeBase64 } from '../../base64.ts';
import { normalizeImage } from '../../contract/images.ts';
import {
  MAX_REQUEST_BYTES,
  MAX_SKIPPED_FILES,
  type RunFile,
  type RunRequestInput,
  type RunResult,
  TOO_LARGE,
} from '../../contract/runs.ts';
import { type SkillContext, SkillError } from '../define.ts';
import { normalizeWorkspacePath } from '../workspace-path.ts';

const MAX_TIMEOUT_MS = 60_000;

/** Longest call of a skill that runs in a sandbox: the longest run, and the time to queue, start and copy files. */
export const SANDBOX_SKILL_TIMEOUT_MS = MAX_TIMEOUT_MS + 15_000;

/** What every skill that runs in a sandbox lets its caller choose. */
export const sandboxInput = {
  image: z.string().optional().describe('Container image, if not the usual one.'),
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional().describe('Longest run time.'),
  networkEnabled: z.boolean().default(false).describe('Ask for network access; refused where the gateway does not allow it.'),
  files: z
    .array(z.string().min(1))
    .max(1_000)
    .default([])
    .describe('Paths of workspace files to copy into the working folder. Files made or changed there are saved in the workspace.'),
};

export type SandboxInput = z.output<z.ZodObject<typeof sandboxInput>>;

/** What every skill that runs in a sandbox answers. */
export const sandboxOutput = {
  success: z.boolean().describe('Whether the exit code is 0 and the run was not ended early.'),
  image: z.string(),
  exitCode: z.int(),
  signal: z.string().exactOptional().describe('The signal that ended the program, if one did, such as SIGKILL.'),
  stdout: z.string(),
  stderr: z.string(),
  output: z.string().describe('stdout, then stderr.'),
  truncated: z.boolean(),
  durationMs: z.number(),
  cpuMs: z.number().exactOptional().describe('CPU time that the program took, where it is known.'),
  maxMemoryBytes: z.int().exactOptional().describe('The most memory that it held at a time, its files included, where it is known.'),
  killed: z.boolean(),
  timedOut: z.boolean(),
  oomKilled: z.boolean(),
  files: z.array(z.object({ path: z.string(), bytes: z.int() })).describe('Files that the run made or changed, saved in the workspace.'),
  filesNotSaved: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe(`Files that the run made or changed and that are lost, at most ${MAX_SKIPPED_FILES} of them; "." is the folder as a whole.`),
  filesNotSavedCount: z.int().describe('How many files are lost, named or not.'),
};

export type SandboxOutput = z.output<z.ZodObject<typeof sandboxOutput>>;

/** Most files that are read at a time. */
const MAX_PARALLEL_READS = 8;

/** Reads the files in turn, so that what is too much for one run is never in memory all at once. */
async function loadFiles(paths: readonly string[], { workspace, limits }: SkillContext): Promise<RunFile[]> {
  const names = [...new Set(paths.map(normalizeWorkspacePath))];
  const files: RunFile[] = [];
  // What is under way together is no more than one run may have.
  const parallel = Math.min(MAX_PARALLEL_READS, Math.max(1, Math.floor(MAX_REQUEST_BYTES / limits.maxFileBytes)));
  let size = 0;
  for (let start = 0; start < names.length; start += parallel) {
    const read = names
      .slice(start, start + parallel)
      .map(async (path) => ({ path, contentBase64: encodeBase64(await workspace.read(path, limits.maxFileBytes)) }));
    for (const file of await Promise.all(read)) {
      size += file.contentBase64.length;
      files.push(file);
    }
    if (size > MAX_REQUEST_BYTES) throw new SkillError(TOO_LARGE);
  }
  return files;
}

/** The one spelling of a path that the workspace knows, or undefined when it refuses the path. */
function spellingOf(path: string): string | undefined {
  try {
    return normalizeWorkspacePath(path);
  } catch {
    return undefined;
  }
}

/** Files whose path the workspace would keep in another spelling, in which it belongs to a file that was sent or came back. */
function findTwins(files: readonly RunFile[], sent: readonly RunFile[]): Map<RunFile, string> {
  const taken = new Set([...sent, ...files].map(({ path }) => path).filter((path) => spellingOf(path) === path));
  const twins = new Map<RunFile, string>();
  for (const file of files) {
    const spelling = spellingOf(file.path);
    if (spelling === undefined || spelling === file.path) continue;
    if (taken.has(spelling)) twins.set(file, spelling);
    taken.add(spelling);
  }
  return twins;
}

/** Saves what a run left behind. One file that the workspace refuses fails neither the others nor the run; what is lost is told. */
async function saveFiles({ files, skippedFiles = [], skippedFileCount }: RunResult, sent: readonly RunFile[], context: SkillContext) {
  const { workspace, limits } = context;
  const saved: SandboxOutput['files'] = [];
  const refused: SandboxOutput['filesNotSaved'] = [];
  const twins = findTwins(files, sent);
  // One after the other, so that it does not depend on chance which file still fits.
  for (const file of files) {
    try {
      const twin = twins.get(file);
      if (twin !== undefined) throw new SkillError(`The workspace takes it for another file of the run: ${twin}`);
      const bytes = decodeBase64(file.contentBase64) ?? new Uint8Array();
      const { path } = await workspace.write(file.path, bytes, { append: false, overwrite: true, maxBytes: limits.maxFileBytes });
      saved.push({ path, bytes: bytes.length });
    } catch (error) {
      refused.push({ path: file.path, reason: error instanceof SkillError ? error.message : 'The workspace could not be reached' });
    }
  }
  return {
    files: saved,
    filesNotSavedCount: refused.length + Math.max(skippedFileCount ?? 0, skippedFiles.length),
    filesNotSaved: [...skippedFiles, ...refused].slice(0, MAX_SKIPPED_FILES),
  };
}

/** stdout and stderr as one text. */
export const joinOutput = (stdout: string, stderr: string): string =>
  stdout === '' || stderr === '' || stdout.endsWith('\n') ? stdout + stderr : `${stdout}\n${stderr}`;

/**
 * Runs one command in a container, with the workspace's files that were asked for, and saves the files it leaves.
 * The execution's id is the run's, so that a repeat gets the same run. Throws a SkillError when the image or the network is not allowed.
 */
export async function runInSandbox(
  program: { command: string[]; stdin?: string; defaultImage: string },
  input: SandboxInput,
  context: SkillContext,
): Promise<SandboxOutput> {
  const { limits } = context;
  const wanted = input.image?.trim() || program.defaultImage;
  const image = normalizeImage(wanted, limits.allowedSandboxImages);
  if (image === undefined) throw new SkillError(`Sandbox image is not allowed: ${wanted}`);
  if (input.networkEnabled && !limits.sandboxNetworkEnabled)
    throw new SkillError(
      'Network access is not allowed in the sandbox. Run without networkEnabled, or set SKILLS_SANDBOX_NETWORK_ENABLED=true on the gateway.',
    );
  const files = await loadFiles(input.files, context);
  const request: RunRequestInput = {
    id: context.executionId,
    image,
    command: program.command,
    stdin: program.stdin ?? '',
    files,
    returnFiles: true,
    limits: {
      timeoutMs: input.timeoutMs ?? limits.sandboxTimeoutMs,
      networkEnabled: input.networkEnabled,
      maxOutputChars: limits.maxSandboxOutputChars,
      maxFileBytes: limits.maxFileBytes,
    },
  };
  const result = await context.sandbox.run(request, { signal: context.signal, onOutput: context.onOutput });
  const { exitCode, signal, stdout, stderr, truncated, durationMs, cpuMs, maxMemoryBytes, killed, timedOut, oomKilled } = result;
  return {
    success: exitCode === 0 && !killed && !timedOut,
    image,
    exitCode,
    ...(signal !== undefined && { signal }),
    stdout,
    stderr,
    output: joinOutput(stdout, stderr),
    truncated,
    durationMs,
    ...(cpuMs !== undefined && { cpuMs }),
    ...(maxMemoryBytes !== undefined && { maxMemoryBytes }),
    killed,
    timedOut,
    oomKilled,
    ...(await saveFiles(result, files, context)),
  };
}
