import { SkillError } from '../skills/define.ts';

export const unavailable = () => new SkillError('No sandbox host is available', { beforeRun: true });
export const busy = () => new SkillError('All sandbox hosts are busy', { beforeRun: true });
export const cancelled = () => new SkillError('The run was cancelled');
export const lost = () =>
  new SkillError(
    'The sandbox host was lost during the run. What the program did on the network may have happened, so it is not run again.',
    {
      transient: true,
    },
  );

export const lostMidway = () =>
  new SkillError('The sandbox host was lost during the run. A part of the output had been passed on, so it is not run again.');
