import * as z from 'zod';
import { defineSkill, SkillError } from '../define.ts';
import { requiredText } from './input-fields.ts';

const MAX_QUERY_CHARACTERS = 500;

export const webSearch = defineSkill({
  name: 'web_search',
  version: '1.0.0',
  description: 'Search the web or the news and return titles, links and snippets.',
  tags: ['web', 'search', 'news'],
  mode: 'on',
  policy: 'auto',
  idempotent: true,
  input: z.object({
    query: requiredText('Missing required field: query')
      .max(MAX_QUERY_CHARACTERS, `Query must be ${MAX_QUERY_CHARACTERS} characters or fewer`)
      .describe('What to search for.'),
    max_results: z.int().min(1).max(20).default(5).describe('Number of results.'),
    search_type: z.enum(['web', 'news']).default('web'),
    country: z.string().optional().describe('Two-letter country code, such as US.'),
    language: z.string().optional().describe('Language code, such as en.'),
    time_range: z.enum(['any', 'day', 'week', 'month', 'year']).default('any').describe('How old results may be.'),
    filters: z
      .object({
        include_domains: z.array(z.string()).optional().describe('Only results of these domains.'),
        exclude_domains: z.array(z.string()).optional().describe('No results of these domains.'),
        safe_search: z.enum(['off', 'moderate', 'strict']).optional(),
      })
      .optional(),
  }),
  output: z.object({
    success: z.literal(true),
    provider: z.string(),
    query: z.string(),
    results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string(), date: z.string().nullable() })),
    cached: z.boolean(),
  }),
  isReadOnly: () => true,
  async execute() {
    throw new SkillError(
      'No search provider is configured. This release of the gateway has none; read a page whose address is known with http_request instead.',
    );
  },
});
