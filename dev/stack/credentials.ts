import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const newSecret = (): string => randomBytes(32).toString('base64url');

const credentials = z.object({
  managementToken: z.string().min(1).default(newSecret),
  sandboxSecret: z.string().min(1).default(newSecret),
  /** Stored once the gateway has made it. */
  apiKey: z.object({ id: z.string(), key: z.string() }).optional(),
});

export type Credentials = z.infer<typeof credentials>;

function readJson(path: string): unknown {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** What the folder's first start made up, so that it stays the same over all later ones. Throws when the file is not ours. */
export function prepareCredentials(path: string): Credentials {
  const parsed = credentials.safeParse(readJson(path));
  if (!parsed.success) throw new Error(`${path} is damaged: remove it, and new credentials are made`);
  writeCredentials(path, parsed.data);
  return parsed.data;
}

/** Readable by its owner alone, from its first moment on. */
export function writeCredentials(path: string, value: Credentials): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
