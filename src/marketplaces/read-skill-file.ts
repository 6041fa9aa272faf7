import { AppError } from '../errors.ts';
import { sha256Hex } from '../hex.ts';
import { askMarketplace } from './ask-marketplace.ts';
import type { SkillLocation } from './skill-location.ts';

export interface SkillFile {
  /** Where it was found. */
  url: string;
  text: string;
  /** Of its bytes, in hex. */
  sha256: string;
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below.
  }
  throw new AppError('skill_unusable', 'SKILL.md is not UTF-8 text');
}

/**
 * Reads the first SKILL.md that there is. Rejects with `marketplace_skill_not_found` when there is none, `skill_too_large`, `skill_unusable`,
 * and as `askMarketplace` does.
 */
export async function readSkillFile(
  fetch: typeof globalThis.fetch,
  { repository, folder, urls }: SkillLocation,
  timeoutMs: number,
): Promise<SkillFile> {
  const signal = AbortSignal.timeout(timeoutMs);
  for (const url of urls) {
    const answer = await askMarketplace(fetch, { title: 'GitHub', url, timeoutMs }, signal);
    if (answer === undefined) continue;
    if (answer.truncated) throw new AppError('skill_too_large', `SKILL.md exceeds the limit of ${answer.bytes.length} bytes`);
    return { url, text: decode(answer.bytes), sha256: await sha256Hex(answer.bytes) };
  }
  throw new AppError('marketplace_skill_not_found', `No SKILL.md of ${folder} in ${repository}`, urls);
}
