import { OUTPUT_STREAMS } from '../contract/runs.ts';
import type { OnOutput } from '../skills/define.ts';

/** Passes on the output of one run, each part of it once, however often a host tells it from its beginning. */
export class OutputRelay {
  readonly #onOutput: OnOutput;
  /** UTF-16 units that have been passed on. */
  readonly #told = { stdout: 0, stderr: 0 };
  /** The life of the host that told the output. */
  #life: string | undefined;

  constructor(onOutput: OnOutput) {
    this.#onOutput = onOutput;
  }

  /** Whether anything has been passed on. */
  get hasTold(): boolean {
    return OUTPUT_STREAMS.some((stream) => this.#told[stream] > 0);
  }

  get life(): string | undefined {
    return this.#life;
  }

  /** Takes the output from its beginning, as this life of a host tells it. */
  begin(life: string | undefined): OnOutput {
    this.#life = life;
    const seen = { stdout: 0, stderr: 0 };
    return (stream, text) => {
      const fresh = text.slice(Math.max(0, this.#told[stream] - seen[stream]));
      seen[stream] += text.length;
      if (fresh === '') return;
      this.#told[stream] += fresh.length;
      this.#onOutput(stream, fresh);
    };
  }
}
