import type { DockerEngine } from './docker-engine.ts';

export interface Readiness {
  ready: boolean;
  /** Whether Docker answers. */
  docker: boolean;
  /** Allowed images that are not installed; unknown while Docker does not answer. */
  missingImages: string[];
}

/** An answer is good for this long, so that probes cost Docker little. */
const CACHE_MS = 1_000;

/** Tells what is missing before runs can work. One image that is there is enough to be ready. */
export function createReadiness(engine: DockerEngine, images: readonly string[], now: () => number): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness> } | undefined;

  async function check(): Promise<Readiness> {
    try {
      await engine.ping();
      const inspected = await Promise.all(images.map((image) => engine.inspectImage(image)));
      const missingImages = images.filter((_, index) => inspected[index] === undefined);
      return { ready: missingImages.length < images.length, docker: true, missingImages };
    } catch {
      return { ready: false, docker: false, missingImages: [] };
    }
  }

  return () => {
    if (!last || now() - last.at > CACHE_MS) last = { at: now(), answer: check() };
    return last.answer;
  };
}
