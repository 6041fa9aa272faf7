import { type HostErrorCode, hostError } from '../contract/runs.ts';
import { SkillError } from '../skills/define.ts';

/** One host does not give the run's result, and another may. */
export class TryNextHost extends Error {
  readonly code: HostErrorCode | undefined;
  /** What to say when no other host takes it, for a host that answers and lacks something. */
  readonly lack: SkillError | undefined;

  constructor(code?: HostErrorCode, lack?: SkillError) {
    super(code ?? 'unreachable');
    this.code = code;
    this.lack = lack;
  }

  /** Whether the program may have begun there: a host that answers says that it has not. */
  get mayHaveBegun(): boolean {
    return this.code === undefined;
  }

  /** Whether the host itself is well. */
  get isHealthy(): boolean {
    return this.code === 'queue_full' || this.code === 'host_restarted' || (this.lack !== undefined && this.code !== 'clock_skew');
  }
}

/** What to make of an answer other than 200. */
export function refusalOf(status: number, body: unknown, image: string): TryNextHost | SkillError {
  const parsed = hostError.safeParse(body);
  if (!parsed.success) return status >= 500 ? new TryNextHost() : new SkillError('The sandbox host sent an answer that cannot be read');
  const { code, error } = parsed.data as { code: HostErrorCode; error: string };
  switch (code) {
    case 'queue_full':
    case 'draining':
    case 'docker_unavailable':
    case 'host_restarted':
      return new TryNextHost(code);
    case 'image_missing':
      return new TryNextHost(code, new SkillError(`Sandbox image is not installed: ${image}`, { beforeRun: true }));
    case 'clock_skew':
      return new TryNextHost(
        code,
        new SkillError('The clocks of the gateway and of the sandbox host differ too much', { beforeRun: true }),
      );
    case 'browser_disabled':
      return new TryNextHost(code, new SkillError(error));
    case 'image_not_allowed':
      return new SkillError(`Sandbox image is not allowed: ${image}`);
    case 'unauthorized':
      return new SkillError('The sandbox host does not accept the signature of this gateway');
    case 'internal_error':
      return new SkillError('The sandbox host lost the run');
    default:
      return new SkillError(error);
  }
}
