import { type SQL, sql } from 'drizzle-orm';
import { sha256Hex } from '../hex.ts';
import { SkillError, type Workspace } from '../skills/define.ts';
import { normalizeWorkspacePath } from '../skills/workspace-path.ts';
import type { Database } from './client.ts';

export interface Quota {
  maxBytes: number;
  maxFiles: number;
}

export interface WorkspaceOptions {
  apiKeyId: string;
  /** What one workspace may hold in all; asked for by each write. */
  loadQuota: () => Promise<Quota>;
  now: () => Date;
}

type WriteOptions = Parameters<Workspace['write']>[2];
type Refusal = 'not_a_file' | 'exists' | 'file_too_large' | 'too_many_files' | 'workspace_full';

/** The name of an API key's workspace: the first 24 hex digits of the SHA-256 of its id. */
export const workspaceId = async (apiKeyId: string): Promise<string> => (await sha256Hex(apiKeyId)).slice(0, 24);

/** `a/b/c.txt` lies in `a` and `a/b`. */
const foldersOf = (path: string): string[] =>
  path.split('/').flatMap((_, index, segments) => (index === 0 ? [] : segments.slice(0, index).join('/')));

/** Names that begin with `path/`; `0` is the character after `/`. */
const insideOf = (path: string): SQL => sql`(path > ${`${path}/`} AND path < ${`${path}0`})`;

/** A query for one row: why a write may not happen, or NULL when it may. */
function selectRefusal(workspace: string, path: string, size: number, options: WriteOptions, quota: Quota): SQL {
  const keepsExisting = Number(!options.append && !options.overwrite);
  return sql`
    SELECT CASE
      WHEN EXISTS (
        SELECT 1 FROM workspace_files
        WHERE workspace = ${workspace} AND (path IN (SELECT value FROM json_each(${JSON.stringify(foldersOf(path))})) OR ${insideOf(path)})
      ) THEN 'not_a_file'
      WHEN existing IS NOT NULL AND ${keepsExisting} THEN 'exists'
      WHEN new_size > ${options.maxBytes} THEN 'file_too_large'
      WHEN existing IS NULL AND files >= ${quota.maxFiles} THEN 'too_many_files'
      WHEN new_size > coalesce(existing, 0) AND total - coalesce(existing, 0) + new_size > ${quota.maxBytes} THEN 'workspace_full'
    END AS refusal
    FROM (
      SELECT existing, files, total, ${size} + CASE WHEN ${Number(options.append)} THEN coalesce(existing, 0) ELSE 0 END AS new_size
      FROM (
        SELECT
          (SELECT size_bytes FROM workspace_files WHERE workspace = ${workspace} AND path = ${path}) AS existing,
          count(*) AS files,
          coalesce(sum(size_bytes), 0) AS total
        FROM workspace_files WHERE workspace = ${workspace}
      )
    )`;
}

function refusalError(refusal: Refusal, path: string, maxBytes: number, quota: Quota): SkillError {
  switch (refusal) {
    case 'not_a_file':
      return new SkillError('Skill file path must point to a file');
    case 'exists':
      return new SkillError(`Skill file already exists: ${path}`);
    case 'file_too_large':
      return new SkillError(`Skill file write exceeds the ${maxBytes} byte limit`);
    case 'too_many_files':
      return new SkillError(`Skill workspace is full: at most ${quota.maxFiles} files`);
    case 'workspace_full':
      return new SkillError(`Skill workspace is full: at most ${quota.maxBytes} bytes`);
    default:
      return refusal satisfies never;
  }
}

/** The files of one API key in the table `workspace_files`. Each call is one round trip; a write checks and changes in one statement. */
export function createWorkspace(db: Database, { apiKeyId, loadQuota, now }: WorkspaceOptions): Workspace {
  return {
    async read(name, maxBytes) {
      const path = normalizeWorkspacePath(name);
      const workspace = await workspaceId(apiKeyId);
      // Raw rows: where there is no Buffer, drizzle would decode a blob as text.
      const [rows, inside] = await db.batch([
        db.values(
          sql`SELECT CASE WHEN size_bytes <= ${maxBytes} THEN content END FROM workspace_files WHERE workspace = ${workspace} AND path = ${path}`,
        ),
        db.values(sql`SELECT 1 FROM workspace_files WHERE workspace = ${workspace} AND ${insideOf(path)} LIMIT 1`),
      ]);
      if (rows[0] === undefined)
        throw new SkillError(inside.length > 0 ? 'Skill file path must point to a file' : `Skill file not found: ${path}`);
      const content = rows[0][0] as ArrayBuffer | null;
      if (content === null) throw new SkillError(`Skill file exceeds the ${maxBytes} byte read limit`);
      return new Uint8Array(content);
    },

    async write(name, content, options) {
      const path = normalizeWorkspacePath(name);
      const quota = await loadQuota();
      if (content.length > options.maxBytes) throw refusalError('file_too_large', path, options.maxBytes, quota);
      const workspace = await workspaceId(apiKeyId);
      const time = now().toISOString();
      const refusal = selectRefusal(workspace, path, content.length, options, quota);
      // `||` makes text of its bytes, which the cast takes back unchanged.
      const merged = options.append
        ? sql`content = CAST(workspace_files.content || excluded.content AS BLOB), size_bytes = workspace_files.size_bytes + excluded.size_bytes`
        : sql`content = excluded.content, size_bytes = excluded.size_bytes`;
      const [written, refusals] = await db.batch([
        db.values(sql`
          INSERT INTO workspace_files (workspace, path, content, size_bytes, created_at, updated_at)
          SELECT ${workspace}, ${path}, ${content}, ${content.length}, ${time}, ${time} FROM (${refusal}) WHERE refusal IS NULL
          ON CONFLICT (workspace, path) DO UPDATE SET ${merged}, updated_at = excluded.updated_at
          RETURNING path`),
        // After a refused write the state is still the one that it was refused for.
        db.values(refusal),
      ]);
      if (written.length === 0) throw refusalError(refusals[0]?.[0] as Refusal, path, options.maxBytes, quota);
      return { path };
    },
  };
}
