import * as z from 'zod';
import { encodeBase64 } from '../../base64.ts';
import { defineSkill } from '../define.ts';
import { normalizeWorkspacePath } from '../workspace-path.ts';
import { fileEncoding } from './file-encoding.ts';
import { requiredText } from './input-fields.ts';

export const fileRead = defineSkill({
  name: 'file_read',
  version: '1.0.0',
  description: 'Read a file of your workspace, as text or as base64.',
  tags: ['file', 'read', 'workspace'],
  mode: 'on',
  policy: 'auto',
  idempotent: true,
  input: z.object({
    path: requiredText('Missing required field: path').describe('Path relative to the workspace, such as notes/today.md.'),
    encoding: fileEncoding,
  }),
  output: z.object({
    success: z.literal(true),
    path: z.string(),
    content: z.string(),
    bytesRead: z.int(),
    encoding: z.enum(['utf8', 'base64']),
  }),
  sequenceKey: ({ path }) => `file ${path}`,
  isReadOnly: () => true,
  async execute({ path, encoding }, { workspace, limits }) {
    const bytes = await workspace.read(path, limits.maxFileBytes);
    // A byte order mark is part of the file; bytes that are not UTF-8 are read as U+FFFD.
    const content = encoding === 'utf8' ? new TextDecoder('utf-8', { ignoreBOM: true, fatal: false }).decode(bytes) : encodeBase64(bytes);
    return { success: true, path: normalizeWorkspacePath(path), content, bytesRead: bytes.length, encoding };
  },
});
