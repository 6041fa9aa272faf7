import * as z from 'zod';
import { defineSkill, SkillError } from '../define.ts';
import { choice } from './input-fields.ts';

const ACTIONS = ['navigate', 'click', 'type', 'screenshot', 'extract'] as const;

export const browser = defineSkill({
  name: 'browser',
  version: '1.0.0',
  description: 'Drive a web browser: open a page, click, type, take a screenshot or extract text.',
  tags: ['browser', 'web', 'automation'],
  mode: 'off',
  policy: 'manual',
  idempotent: false,
  input: z.object({
    action: choice(ACTIONS, { unknown: 'Unknown action', required: 'Missing required field: action' }).describe('What to do.'),
    url: z.url().optional().describe('Page to open; for navigate.'),
    selector: z.string().optional().describe('CSS selector of the element; for click, type and extract.'),
    text: z.string().optional().describe('Text to type.'),
  }),
  output: z.object({
    success: z.literal(true),
    action: z.enum(ACTIONS),
    url: z.string(),
    title: z.string(),
    text: z.string().nullable(),
    screenshot: z.string().nullable().describe('PNG as base64.'),
  }),
  async execute() {
    throw new SkillError(
      'Browser automation skill is disabled. This release of the gateway has no browser; read pages with http_request instead.',
    );
  },
});
