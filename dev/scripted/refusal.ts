/** Why a request is not answered. Each format tells it in its own shape. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: 400 | 404;
  /** As OpenAI names it; the other formats have no such code. */
  readonly code: string | null;

  constructor(status: 400 | 404, message: string, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
