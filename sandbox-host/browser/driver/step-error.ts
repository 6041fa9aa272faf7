/** Why a step did not succeed, in words for who asked for it. */
export class StepError extends Error {
  override readonly name = 'StepError';
}
