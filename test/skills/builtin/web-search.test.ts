import { describe, expect, it } from 'vitest';
import { webSearch } from '../../../src/skills/builtin/web-search.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createSkillContext } from '../../support/skill-context.ts';

describe('web_search', () => {
  it.each([
    [{}, 'Missing required field: query'],
    [{ query: '' }, 'Missing required field: query'],
    [{ query: null }, 'Missing required field: query'],
    [{ query: 'x'.repeat(501) }, 'Query must be 500 characters or fewer'],
    [{ query: 1 }, 'query: Invalid input: expected string, received number'],
    [{ query: 'x', max_results: 0 }, 'max_results: Too small: expected number to be >=1'],
    [{ query: 'x', max_results: 21 }, 'max_results: Too big: expected number to be <=20'],
    [{ query: 'x', search_type: 'images' }, 'search_type: Invalid option: expected one of "web"|"news"'],
    [{ query: 'x', time_range: 'hour' }, 'time_range: Invalid option: expected one of "any"|"day"|"week"|"month"|"year"'],
    [{ query: 'x', filters: { safe_search: 'on' } }, 'filters.safe_search: Invalid option: expected one of "off"|"moderate"|"strict"'],
    [
      { query: 'x'.repeat(500) },
      'No search provider is configured. This release of the gateway has none; read a page whose address is known with http_request instead.',
    ],
  ])('answers %j with its error', async (input, message) => {
    await expect(callSkill(webSearch, input, createSkillContext())).rejects.toEqual(new SkillError(message));
  });
});
