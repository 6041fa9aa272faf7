import * as z from 'zod';
import { decodeBase64 } from '../../base64.ts';
import { defineSkill, SkillError } from '../define.ts';
import { fileEncoding } from './file-encoding.ts';
import { requiredText } from './input-fields.ts';

const MISSING = 'Missing required fields: path, content';

export const fileWrite = defineSkill({
  name: 'file_write',
  version: '1.0.0',
  description: 'Create, replace or extend a file of your workspace.',
  tags: ['file', 'write', 'workspace'],
  mode: 'on',
  policy: 'auto',
  idempotent: false,
  input: z.object({
    path: requiredText(MISSING).describe('Path relative to the workspace, such as notes/today.md.'),
    content: z.string({ error: (issue) => (issue.input === undefined ? MISSING : undefined) }).describe('What to write; may be empty.'),
    encoding: fileEncoding,
    append: z.boolean().default(false).describe('Add to the end of the file instead of replacing it.'),
    overwrite: z.boolean().default(true).describe('With false, an existing file is left as it is and the call fails.'),
  }),
  output: z.object({ success: z.literal(true), path: z.string(), bytesWritten: z.int() }),
  sequenceKey: ({ path }) => `file ${path}`,
  async execute({ path, content, encoding, append, overwrite }, { workspace, limits }) {
    const bytes = encoding === 'utf8' ? new TextEncoder().encode(content) : decodeBase64(content);
    if (bytes === undefined) throw new SkillError('content: Invalid base64-encoded string');
    const written = await workspace.write(path, bytes, { append, overwrite, maxBytes: limits.maxFileBytes });
    return { success: true, path: written.path, bytesWritten: bytes.length };
  },
});
